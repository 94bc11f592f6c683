// Layers that try to get out of the folder they are laid over.
#include "archive/image_layer.hpp"
#include "support/tar_forge.hpp"

#include <gtest/gtest.h>

namespace cukit::archive {
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
    static_cast<void>(
        apply_layer(tar, root(), [](std::string_view, std::uint64_t) { return true; }));
  }
  TempDirectory work = TempDirectory::create(fs::temp_directory_path(), "layer-").value();
};

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
} // namespace cukit::archive
