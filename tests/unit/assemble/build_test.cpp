#include "fixture.hpp"

#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::assemble {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BuildTest : public AssembleTest {
protected:
  static struct stat look(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info;
  }
  /// Every path below a folder with kind, mode, time and digest or target, .cukit/ included.
  /// Folders of a linked tree are read-only and those of a copy are not, so the bits to write are
  /// left out.
  static std::map<std::string, std::string> photograph(const fs::path& folder) {
    std::map<std::string, std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const auto info = look(entry.path());
      std::string text = fmt::format("{:o} {} ", info.st_mode & ~0222U, info.st_mtime);
      if (S_ISLNK(info.st_mode)) {
        text += fs::read_symlink(entry.path()).string();
      } else if (S_ISREG(info.st_mode)) {
        text += sha256_of_file(entry.path())->hex();
      }
      paths[entry.path().lexically_relative(folder).string()] = text;
    }
    return paths;
  }
  std::vector<std::string> verified(const fs::path& folder) {
    const auto tree = open_tree(folder);
    EXPECT_TRUE(tree);
    const auto lines = verify(*tree, {});
    EXPECT_TRUE(lines) << lines.error().message;
    return lines ? *lines : std::vector<std::string>{"failed"};
  }
};

TEST_F(BuildTest, a_linked_tree_shares_its_files_with_the_store) {
  add_small_toolkit();
  const auto tree = build_at(scratch_->path() / "t");
  ASSERT_TRUE(tree);
  for (const auto& file : planned()) {
    if (!file.from.empty()) {
      EXPECT_EQ(look(tree->path / file.path.text()).st_ino, look(file.from).st_ino)
          << file.path.text();
    }
  }
  EXPECT_THAT(verified(tree->path), IsEmpty());
}

TEST_F(BuildTest, a_copied_tree_shares_nothing_and_is_equal_down_to_modes_and_times) {
  add_small_toolkit();
  const auto linked = build_at(scratch_->path() / "linked");
  const auto copied = build_at(scratch_->path() / "elsewhere/copied", Placement::copy);
  ASSERT_TRUE(linked);
  ASSERT_TRUE(copied);
  for (const auto& file : planned()) {
    EXPECT_EQ(look(copied->path / file.path.text()).st_nlink, 1U);
  }
  EXPECT_EQ(photograph(linked->path), photograph(copied->path));
  EXPECT_EQ(linked->content, copied->content);
  EXPECT_EQ(linked->id, copied->id);
}

TEST_F(BuildTest, modes_follow_the_rule_whatever_the_umask) {
  add_small_toolkit();
  const mode_t before = ::umask(0077);
  const auto tree = build_at(scratch_->path() / "t", Placement::copy);
  ::umask(before);
  ASSERT_TRUE(tree);
  const auto mode = [&](const char* path) { return look(tree->path / path).st_mode & 07777U; };
  EXPECT_EQ(mode("bin/nvcc"), 0555U);
  EXPECT_EQ(mode("bin/tool"), 0555U);
  EXPECT_EQ(mode("bin/nvcc.profile"), 0444U);
  EXPECT_EQ(mode("lib/stubs/libcuda.so"), 0555U);
  EXPECT_EQ(mode("version.txt"), 0444U);
  EXPECT_EQ(mode(".cukit/files"), 0444U);
  for (const char* folder : {".", "bin", "lib/stubs", ".cukit", "targets/x86_64-linux"}) {
    EXPECT_EQ(mode(folder), 0755U) << folder;
    EXPECT_EQ(look(tree->path / folder).st_mtime, 1) << folder;
  }
  EXPECT_EQ(look(tree->path / "lib64").st_mtime, 1);
  EXPECT_EQ(look(tree->path / "version.txt").st_mtime, 1);
}

TEST_F(BuildTest, folders_of_a_linked_tree_are_read_only_but_for_its_own_until_it_is_sealed) {
  add_small_toolkit();
  const auto tree = build_at(scratch_->path() / "t");
  ASSERT_TRUE(tree);
  const auto mode = [&](const char* path) { return look(tree->path / path).st_mode & 07777U; };
  EXPECT_EQ(mode("."), 0755U);
  for (const char* folder : {"bin", "lib/stubs", ".cukit", "targets/x86_64-linux"}) {
    EXPECT_EQ(mode(folder), 0555U) << folder;
  }
  ASSERT_TRUE(seal_tree(tree->path));
  EXPECT_EQ(mode("."), 0555U);
  EXPECT_THAT(verified(tree->path), IsEmpty());
}

TEST_F(BuildTest, the_content_digest_is_the_digest_of_the_documented_list) {
  add("x", "1", {{"nvidia/cu13/include/a.h", "hello\n"}});
  const auto tree = build_at(scratch_->path() / "t");
  ASSERT_TRUE(tree);
  const auto text = *read_file(tree->path / ".cukit/files", 1U << 20U);
  // sha256sum of "hello\n" and of "CUDA Version 13.0.2\n"
  const std::string start =
      "cukit-files\t1\n"
      "0444\t6\t5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\tinclude/a.h\n"
      "link\t0\t../../include\ttargets/x86_64-linux/include\n";
  EXPECT_EQ(text.substr(0, start.size()), start);
  EXPECT_EQ(*read_file(tree->path / ".cukit/content", 100), sha256_of(text).text() + "\n");
  EXPECT_EQ(tree->content, sha256_of(text));
}

TEST_F(BuildTest, an_opened_tree_tells_what_it_was_made_from) {
  add_small_toolkit();
  const auto built = build_at(scratch_->path() / "t");
  ASSERT_TRUE(built);
  fs::rename(built->path, scratch_->path() / "moved");
  const auto tree = open_tree(scratch_->path() / "moved");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->id, lock::tree_id(lock_, platform_));
  EXPECT_EQ(tree->content, built->content);
  EXPECT_EQ(tree->release.text(), "13.0.2");
  EXPECT_EQ(tree->platform, platform_.platform);
  EXPECT_EQ(tree->components,
            (std::map<std::string, std::string>{{"cudart", "13.0.96"}, {"nvcc", "13.0.88"}}));
  EXPECT_TRUE(tree->has("bin/nvcc"));
  EXPECT_TRUE(tree->has("lib64"));
  EXPECT_FALSE(tree->has("bin/ptxas"));
  EXPECT_THAT(verified(tree->path), IsEmpty());
}

TEST_F(BuildTest, no_file_outside_its_record_holds_the_path_of_the_tree) {
  add_small_toolkit();
  const auto tree = build_at(scratch_->path() / "t");
  ASSERT_TRUE(tree);
  for (const auto& entry : fs::recursive_directory_iterator(tree->path)) {
    if (entry.is_regular_file()) {
      const auto text = *read_file(entry.path(), 1U << 20U);
      EXPECT_EQ(text.find(scratch_->path().string()), std::string::npos) << entry.path();
    }
  }
}

TEST_F(BuildTest, a_folder_that_is_no_tree_is_said_to_be_none) {
  EXPECT_FALSE(open_tree(scratch_->path()));
  EXPECT_FALSE(open_tree(scratch_->path() / "nothing"));
}

TEST_F(BuildTest, verify_names_each_kind_of_damage) {
  add_small_toolkit();
  const auto tree = build_at(scratch_->path() / "t", Placement::copy);
  ASSERT_TRUE(tree);
  const fs::path root = tree->path;
  ASSERT_EQ(::chmod((root / "bin/tool").c_str(), 0755), 0);
  fs::remove(root / "bin/nvcc.profile");
  std::ofstream(root / "include/cuda.h") << "CUresult CUDAAPI cuInit(unsigned int flags);\n";
  fs::remove(root / "lib64");
  fs::create_symlink("/usr/lib", root / "lib64");
  std::ofstream(root / "include/more.h") << "x";
  fs::create_directory(root / "bin/new");
  EXPECT_THAT(verified(root), ElementsAre("extra: bin/new/", "missing: bin/nvcc.profile",
                                          "mode changed: bin/tool (0755, was 0555)",
                                          "modified: include/cuda.h", "extra: include/more.h",
                                          "link changed: lib64 (leads to /usr/lib, was lib)"));
}

TEST_F(BuildTest, verify_refuses_a_list_that_was_changed_with_the_files) {
  add_small_toolkit();
  const auto tree = build_at(scratch_->path() / "t");
  ASSERT_TRUE(tree);
  const auto list = tree->path / ".cukit/files";
  auto text = *read_file(list, 1U << 20U);
  text.erase(14, text.find('\n', 14) - 13);
  ASSERT_TRUE(fs::remove(list));
  ASSERT_TRUE(create_file(list, text));
  const auto lines = verify(*open_tree(tree->path), {});
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, ErrorCode::integrity);
}

TEST_F(BuildTest, a_changed_store_file_is_found_through_the_tree) {
  add_small_toolkit();
  const auto tree = build_at(scratch_->path() / "t");
  ASSERT_TRUE(tree);
  const auto entry = entries_.begin()->second;
  std::ofstream(entry.files / entry.list.back().path.text()) << "?";
  EXPECT_FALSE(store_->verify(entry.key)->empty());
  EXPECT_FALSE(verified(tree->path).empty());
}

TEST_F(BuildTest, a_stop_request_ends_it) {
  add_small_toolkit();
  std::stop_source stop;
  stop.request_stop();
  Silent silent;
  ASSERT_TRUE(make_directories(scratch_->path() / "t"));
  const auto tree = build(lock_, platform_, planned(), scratch_->path() / "t", Placement::link,
                          silent, stop.get_token());
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().code, ErrorCode::interrupted);
}

TEST_F(BuildTest, a_file_in_the_way_is_an_error) {
  add_small_toolkit();
  ASSERT_TRUE(make_directories(scratch_->path() / "t/bin"));
  EXPECT_FALSE(build_at(scratch_->path() / "t"));
}

TEST_F(BuildTest, row36_a_tree_on_another_file_system_has_copies_and_the_same_content) {
  add_small_toolkit();
  const fs::path other = "/dev/shm";
  if (!is_directory(other) || look(other).st_dev == look(scratch_->path()).st_dev) {
    GTEST_SKIP() << other << " is no other file system";
  }
  auto made = TempDirectory::create(other, "cukit-assemble-");
  if (!made) {
    GTEST_SKIP() << made.error().message;
  }
  const auto here = build_at(scratch_->path() / "t");
  const auto there = build_at(made->path() / "t");
  ASSERT_TRUE(here);
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(photograph(here->path), photograph(there->path));
  EXPECT_THAT(verified(there->path), IsEmpty());
}

TEST_F(BuildTest,
       row36_a_file_with_as_many_names_as_it_may_have_is_copied_and_the_others_are_linked) {
  add_small_toolkit();
  const auto entry = entries_.at(lock::store_key(platform_.artifacts[0]));
  const auto target = (entry.files / "nvidia/cu13/include/cuda.h").string();
  const auto folder = scratch_->path() / "names";
  ASSERT_TRUE(make_directories(folder));
  int number = 0;
  for (int i = 0; i < 70'000 && number == 0; ++i) {
    const auto name = (folder / std::to_string(i)).string();
    number = ::link(target.c_str(), name.c_str()) == 0 ? 0 : errno;
  }
  if (number != EMLINK) {
    GTEST_SKIP() << "this file system has no limit of links below 70,000";
  }
  const auto tree = build_at(scratch_->path() / "t");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(look(tree->path / "include/cuda.h").st_nlink, 1U);
  EXPECT_GT(look(tree->path / "bin/nvcc").st_nlink, 1U); // the others are linked all the same
  EXPECT_THAT(verified(tree->path), IsEmpty());
}

} // namespace
} // namespace cukit::assemble
