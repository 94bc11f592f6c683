// Layers that try to get out of the folder they are laid over.
#include "base/child.hpp"
#include "image/layer.hpp"
#include "support/tar_forge.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::image {
namespace {

class ImageLayer : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(make_directories(root()));
    ASSERT_TRUE(make_directories(outside()));
    ASSERT_TRUE(create_file(outside() / "victim", "not theirs"));
  }
  [[nodiscard]] fs::path root() const { return work.path() / "root"; }
  [[nodiscard]] fs::path outside() const { return work.path() / "outside"; }
  void lay(const std::vector<test::ForgedTarEntry>& entries) const {
    const auto tar = work.path() / "layer.tar";
    ASSERT_TRUE(write_file_atomic(tar, test::forge_tar(entries)));
    // Refused or passed over, both are right; what counts is what lies where afterwards.
    LayerBudget budget;
    static_cast<void>(apply_layer(
        tar, root(), [](std::string_view, std::uint64_t) { return true; }, budget));
  }
  TempDirectory work = TempDirectory::create(fs::temp_directory_path(), "layer-").value();
};

/// Layers that the usual programs packed.
class PackedLayer : public ImageLayer {
protected:
  void SetUp() override {
    ImageLayer::SetUp();
    if (!run("tar --version && zstd --version && gzip --version")) {
      GTEST_SKIP() << "tar, gzip and zstd are not here";
    }
    std::string noise; // does not pack, so that it goes on over many pieces
    for (std::uint32_t i = 0, state = 1; i < 900'000; ++i) {
      state = state * 1664525U + 1013904223U;
      noise += static_cast<char>(state >> 24U);
    }
    ASSERT_TRUE(make_directories(work.path() / "in/bin"));
    ASSERT_TRUE(create_file(work.path() / "in/bin/tool", noise));
    ASSERT_TRUE(create_file(work.path() / "in/note", "text"));
    ASSERT_TRUE(run("tar -C in -cf plain.tar ."));
  }
  [[nodiscard]] bool run(const std::string& script) const {
    Command command{.arguments = {"/bin/sh", "-c", "set -e\n" + script}};
    command.environment.set("PATH", "/usr/bin:/bin");
    command.directory = work.path().string();
    const auto done = run_command(command);
    return done && done->exit_code == 0;
  }
  [[nodiscard]] Result<void> apply(const std::string& name) const {
    LayerBudget budget;
    return apply_layer(
        work.path() / name, root(), [](std::string_view, std::uint64_t) { return true; }, budget);
  }
  void expect_whole() const {
    EXPECT_EQ(read_file(root() / "note", 100).value_or(""), "text");
    EXPECT_EQ(read_file(root() / "bin/tool", 1U << 20U).value_or("a"),
              read_file(work.path() / "in/bin/tool", 1U << 20U).value_or("b"));
  }
};

TEST_F(PackedLayer, zstd_is_read_at_every_level_and_with_a_long_window) {
  for (const char* how : {"-1", "-19", "--ultra -22", "--long=27 -3", "--no-check -5"}) {
    ASSERT_TRUE(run(std::string("zstd -qf ") + how + " plain.tar -o layer.zst")) << how;
    const auto done = apply("layer.zst");
    ASSERT_TRUE(done) << how << ": " << done.error().message;
    expect_whole();
    ASSERT_TRUE(remove_tree(root()));
    ASSERT_TRUE(make_directories(root()));
  }
}

TEST_F(PackedLayer, many_frames_and_many_members_are_one_layer) {
  // as zstd:chunked and eStargz have them; the skippable frame carries their table
  ASSERT_TRUE(
      run("split -b 100000 plain.tar part; for p in part*; do zstd -q $p; gzip -n $p; done; "
          "printf '\\120\\052\\115\\030\\004\\000\\000\\000abcd' > skip; "
          "cat part*.zst skip > layer.zst; cat part*.gz > layer.gz"));
  for (const char* name : {"layer.zst", "layer.gz"}) {
    const auto done = apply(name);
    ASSERT_TRUE(done) << name << ": " << done.error().message;
    expect_whole();
    ASSERT_TRUE(remove_tree(root()));
    ASSERT_TRUE(make_directories(root()));
  }
}

TEST_F(PackedLayer, a_gzip_header_with_a_name_is_passed_over) {
  ASSERT_TRUE(run("gzip -k plain.tar"));
  ASSERT_TRUE(apply("plain.tar.gz"));
  expect_whole();
}

TEST_F(PackedLayer, damaged_and_cut_ones_are_refused) {
  ASSERT_TRUE(run("zstd -q plain.tar -o whole.zst; head -c 500000 whole.zst > cut.zst; gzip -n < "
                  "plain.tar > whole.gz; head -c 500000 whole.gz > cut.gz; cp whole.zst bad.zst; "
                  "printf 'XXXXXXXX' | dd of=bad.zst bs=1 seek=30 conv=notrunc status=none"));
  for (const char* name : {"cut.zst", "cut.gz", "bad.zst"}) {
    const auto done = apply(name);
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().code, ErrorCode::integrity) << name;
  }
}

TEST_F(PackedLayer, a_window_beyond_the_limit_takes_no_memory) {
  ASSERT_TRUE(run("zstd -qf --long=29 --ultra -19 plain.tar -o layer.zst"));
  // The window's size stands in the header's second byte (RFC 8878, 3.1.1.1.2): 2^(10 + byte / 8)
  ASSERT_TRUE(
      run("head -c 4 layer.zst > big; printf '\\000\\240' >> big; tail -c +7 layer.zst >> big"));
  const auto done = apply("big");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::HasSubstr("zstd"));
}

TEST_F(PackedLayer, a_bomb_is_stopped) {
  ASSERT_TRUE(run("{ printf 'x'; head -c 1200000000 /dev/zero; } | zstd -q -1 > layer.zst"));
  const auto done = apply("layer.zst");
  ASSERT_FALSE(done);
}

TEST_F(ImageLayer, links_and_files_are_laid) {
  lay({{.name = "lib/a", .content = "text"},
       {.name = "lib/b", .type = '1', .link = "lib/a"},
       {.name = "c", .type = '2', .link = "lib/a"}});
  EXPECT_EQ(read_file(root() / "lib/b", 100).value_or(""), "text");
  EXPECT_EQ(fs::read_symlink(root() / "c"), "lib/a");
}

TEST_F(ImageLayer, a_hard_link_through_a_link_brings_nothing_in) {
  lay({{.name = "way", .type = '2', .link = outside().string()},
       {.name = "mine", .type = '1', .link = "way/victim"}});
  EXPECT_FALSE(path_exists(root() / "mine"));
}

TEST_F(ImageLayer, a_whiteout_of_no_name_removes_nothing_above_its_folder) {
  for (const char* name : {".wh...", ".wh..", ".wh.", "usr/.wh...", "usr/.wh..", "usr/.wh.",
                           "usr/lib/.wh...", "./.wh...", "usr/../.wh...", "usr/./.wh..."}) {
    lay({{.name = "usr/lib/kept", .content = "text"}, {.name = name}});
    EXPECT_EQ(read_file(root() / "usr/lib/kept", 100).value_or(""), "text") << name;
    EXPECT_TRUE(path_exists(outside() / "victim")) << name;
  }
}

TEST_F(ImageLayer, whiteouts_remove_what_they_name_and_notes_of_a_union_file_system_nothing) {
  lay({{.name = "usr/gone", .content = "text"},
       {.name = "usr/kept", .content = "text"},
       {.name = "usr/.wh.gone"},
       {.name = "usr/.wh..wh.kept"},
       {.name = "usr/.wh..wh.plnk"},
       {.name = "etc/old/deep", .content = "text"},
       {.name = "etc/.wh.old"},
       {.name = "way", .type = '2', .link = outside().string()},
       {.name = ".wh.way"}});
  EXPECT_EQ(list_directory(root() / "usr").value(), std::vector<std::string>{"kept"});
  EXPECT_EQ(list_directory(root() / "etc").value(), std::vector<std::string>{});
  EXPECT_TRUE(path_exists(outside() / "victim"));
  EXPECT_FALSE(path_exists(root() / "way"));
}

TEST_F(PackedLayer, files_beyond_the_budget_become_holes_and_are_counted) {
  ASSERT_TRUE(run("mkdir many; for i in 1 2 3 4; do head -c 50000000 /dev/zero > many/$i; done; "
                  "tar -C many -c . | gzip -n > layer.gz"));
  LayerBudget budget;
  ASSERT_TRUE(apply_layer(
      work.path() / "layer.gz", root(), [](std::string_view, std::uint64_t) { return true; },
      budget));
  EXPECT_GE(budget.passed_over, 2U); // 64 MiB are free, and 30 times the 200 kB of the layer
  EXPECT_EQ(fs::file_size(root() / "1"), 50'000'000U);
  EXPECT_EQ(fs::file_size(root() / "4"), 50'000'000U);
}

TEST_F(PackedLayer, a_layer_of_empty_entries_is_refused_when_there_are_far_too_many) {
  LayerBudget budget;
  budget.entries = 0;
  const auto done = apply_layer(
      work.path() / "plain.tar", root(), [](std::string_view, std::uint64_t) { return false; },
      budget);
  EXPECT_TRUE(done) << "a layer of 900 kB may have some entries";
  LayerBudget spent;
  spent.grow(work.path() / "plain.tar", 0); // known already: it gives nothing again
  spent.entries = 2;
  const auto refused = apply_layer(
      work.path() / "plain.tar", root(), [](std::string_view, std::uint64_t) { return false; },
      spent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::integrity);
}

TEST_F(ImageLayer, nothing_is_written_or_removed_through_a_link) {
  lay({{.name = "way", .type = '2', .link = outside().string()},
       {.name = "way/new", .content = "x"},
       {.name = "way/.wh.victim"},
       {.name = "way/.wh..wh..opq"},
       {.name = "../outside/other", .content = "x"}});
  EXPECT_EQ(read_file(outside() / "victim", 100).value_or(""), "not theirs");
  EXPECT_EQ(list_directory(outside()).value(), std::vector<std::string>{"victim"});
}

} // namespace
} // namespace cukit::image
