#include "archive/folder_cache.hpp"
#include "archive/tree_sink.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cukit::archive {
namespace {

using testing::HasSubstr;

class TreeSinkTest : public testing::Test {
protected:
  TempDirectory scratch_ = TempDirectory::create(fs::temp_directory_path(), "sink-").value();
  fs::path folder_ = scratch_.path() / "tree";

  void SetUp() override { fs::create_directory(folder_); }
  TreeSink sink() const { return TreeSink::open(folder_).value(); }
};

RelativePath path(std::string_view text) {
  return RelativePath::parse(text).value();
}

std::span<const std::uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Result<WrittenFile> put(TreeSink& sink, std::string_view name, std::string_view content) {
  CUKIT_TRY_ASSIGN(auto file, sink.create(path(name), content.size()));
  CUKIT_TRY(file.write(bytes(content)));
  return file.finish();
}

struct stat look(const fs::path& at) {
  struct stat info {};
  EXPECT_EQ(::lstat(at.c_str(), &info), 0) << at;
  return info;
}

TEST_F(TreeSinkTest, writes_content_and_tells_what_it_wrote) {
  auto tree = sink();
  const auto written = put(tree, "a/b/c.txt", "abc");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(read_file(folder_ / "a/b/c.txt", 100).value(), "abc");
  EXPECT_EQ(written->path.text(), "a/b/c.txt");
  EXPECT_EQ(written->size, 3U);
  EXPECT_EQ(written->sha256.hex(), // sha256sum's
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(TreeSinkTest, sets_modes_by_the_first_bytes_whatever_the_umask) {
  const mode_t before = ::umask(0077);
  auto tree = sink();
  EXPECT_TRUE(put(tree, "bin/elf",
                  std::string_view("\x7f"
                                   "ELF\2\1\1\0",
                                   8))
                  ->executable);
  EXPECT_TRUE(put(tree, "bin/script", "#!/bin/sh\n")->executable);
  EXPECT_FALSE(put(tree, "bin/text", "ELF")->executable);
  EXPECT_FALSE(put(tree, "bin/short", "#")->executable);
  EXPECT_FALSE(put(tree, "bin/empty", "")->executable);
  ::umask(before);
  EXPECT_EQ(look(folder_ / "bin/elf").st_mode & 07777U, 0555U);
  EXPECT_EQ(look(folder_ / "bin/script").st_mode & 07777U, 0555U);
  EXPECT_EQ(look(folder_ / "bin/text").st_mode & 07777U, 0444U);
  EXPECT_EQ(look(folder_ / "bin/empty").st_mode & 07777U, 0444U);
  EXPECT_EQ(look(folder_ / "bin").st_mode & 07777U, 0755U);
}

TEST_F(TreeSinkTest, sees_an_elf_whose_first_bytes_come_one_by_one) {
  auto tree = sink();
  auto file = tree.create(path("elf"), 5).value();
  for (const auto* piece : {"\x7f", "E", "L", "F", "x"}) {
    ASSERT_TRUE(file.write(bytes(piece)));
  }
  EXPECT_TRUE(file.finish()->executable);
}

TEST_F(TreeSinkTest, sets_the_time_stamp_of_files_and_folders) {
  auto tree = sink();
  ASSERT_TRUE(put(tree, "a/b/c", "x"));
  ASSERT_TRUE(tree.settle_folders());
  for (const auto* name : {"a/b/c", "a/b", "a", "."}) {
    EXPECT_EQ(look(folder_ / name).st_mtim.tv_sec, 1) << name;
    EXPECT_EQ(look(folder_ / name).st_mtim.tv_nsec, 0) << name;
  }
}

TEST_F(TreeSinkTest, refuses_a_folder_that_is_not_empty_or_not_there) {
  EXPECT_FALSE(TreeSink::open(folder_ / "missing"));
  ASSERT_TRUE(create_file(folder_ / "old", "x"));
  const auto result = TreeSink::open(folder_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("is not empty: it holds old"));
}

TEST_F(TreeSinkTest, refuses_a_path_twice) {
  auto tree = sink();
  ASSERT_TRUE(put(tree, "a/b", "first"));
  const auto second = put(tree, "a/b", "second");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("exists already"));
  EXPECT_EQ(read_file(folder_ / "a/b", 100).value(), "first");
}

TEST_F(TreeSinkTest, does_not_write_through_links_that_somebody_puts_in_its_way) {
  const auto outside = scratch_.path() / "outside";
  fs::create_directory(outside);
  ASSERT_TRUE(create_file(scratch_.path() / "victim", "untouched"));
  auto tree = sink();
  fs::create_directory_symlink(outside, folder_ / "linked");
  fs::create_symlink(scratch_.path() / "victim", folder_ / "file");
  EXPECT_FALSE(put(tree, "linked/evil", "x"));
  EXPECT_FALSE(put(tree, "linked/deep/evil", "x"));
  EXPECT_FALSE(put(tree, "file", "x"));
  EXPECT_TRUE(fs::is_empty(outside));
  EXPECT_EQ(read_file(scratch_.path() / "victim", 100).value(), "untouched");
}

TEST_F(TreeSinkTest, does_not_use_a_file_as_a_folder) {
  auto tree = sink();
  ASSERT_TRUE(put(tree, "a", "x"));
  EXPECT_FALSE(put(tree, "a/b", "y"));
}

TEST_F(TreeSinkTest, takes_many_folders_and_threads) {
  auto tree = sink();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&tree, t] {
      for (int i = 0; i < 100; ++i) { // more folders than are kept open, shared by the threads
        EXPECT_TRUE(put(tree, fmt::format("d{}/e{}/f{}", i % 7, i, t), std::to_string(i)));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(read_file(folder_ / "d1/e99/f3", 100).value(), "99");
}

TEST_F(TreeSinkTest, both_ways_to_open_a_folder_refuse_links_and_dots) {
  fs::create_directories(folder_ / "a/b");
  fs::create_directory_symlink(folder_ / "a", folder_ / "link");
  ASSERT_TRUE(create_file(folder_ / "file", ""));
  const auto root = open_file(folder_, O_RDONLY | O_DIRECTORY).value();
  EXPECT_TRUE(open_by_steps(root.get(), "a/b"));
  EXPECT_FALSE(open_by_steps(root.get(), "link/b"));
  EXPECT_FALSE(open_by_steps(root.get(), "a/missing"));
  EXPECT_FALSE(open_by_steps(root.get(), "file"));
  if (!has_openat2(root.get())) {
    GTEST_SKIP() << "this kernel has no openat2";
  }
  EXPECT_TRUE(open_beneath(root.get(), "a/b"));
  EXPECT_FALSE(open_beneath(root.get(), "link/b"));
  EXPECT_FALSE(open_beneath(root.get(), "a/missing"));
  EXPECT_FALSE(open_beneath(root.get(), "file"));
  EXPECT_FALSE(open_beneath(root.get(), ".."));
  EXPECT_FALSE(open_beneath(root.get(), "/"));
}

/// In a mount namespace of this thread alone; false where that is not allowed.
bool mount_small_disk(const fs::path& at) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", at.c_str(), "tmpfs", 0, "size=64k") == 0;
}

TEST_F(TreeSinkTest, says_what_to_do_when_the_disk_is_full) {
  bool mounted = false;
  Result<WrittenFile> result;
  std::jthread([&] {
    mounted = mount_small_disk(folder_);
    if (mounted) {
      auto tree = sink();
      result = put(tree, "lib/large.so", std::string(1U << 20U, 'x'));
    }
  }).join();
  if (!mounted) {
    GTEST_SKIP() << "needs the right to mount";
  }
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::host);
  EXPECT_THAT(result.error().message, HasSubstr("lib/large.so: No space left on device"));
  EXPECT_THAT(result.error().hint, HasSubstr("free some space"));
  ASSERT_EQ(result.error().causes.size(), 1U);
  EXPECT_THAT(result.error().causes[0], HasSubstr("the file needs 1.0 MB"));
}

} // namespace
} // namespace cukit::archive
