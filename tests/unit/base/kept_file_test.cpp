#include "base/kept_file.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class KeptFile : public testing::Test {
protected:
  KeptFile() : scratch_(*TempDirectory::create(fs::temp_directory_path(), "cukit-kept-")) {}
  [[nodiscard]] fs::path at(const std::string& name) const { return scratch_.path() / name; }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomic(at(name), text));
  }

private:
  TempDirectory scratch_;
};

TEST_F(KeptFile, a_pipe_is_named_and_nobody_waits_for_its_other_end) {
  ASSERT_EQ(::mkfifo(at("f").c_str(), 0644), 0);
  const auto expect_named = [&](const auto& result) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr(at("f").string() + " is a pipe, not a file"));
  };
  expect_named(read_file(at("f"), 100));
  expect_named(read_kept(at("f"), 100));
  expect_named(open_kept(at("f"), O_RDONLY));
  expect_named(open_kept(at("f"), O_WRONLY | O_CREAT | O_APPEND));
  expect_named(open_kept(at("f"), O_RDWR | O_CREAT));
}

TEST_F(KeptFile, a_link_is_followed_where_a_person_named_the_file_alone) {
  write("there", "text");
  fs::create_symlink("there", at("f"));
  EXPECT_EQ(read_file(at("f"), 100).value(), "text");
  const auto kept = read_kept(at("f"), 100);
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().message, HasSubstr("is a link, not a file"));
  EXPECT_FALSE(open_kept(at("f"), O_RDWR | O_CREAT | O_TRUNC));
  EXPECT_EQ(read_file(at("there"), 100).value(), "text");
}

TEST_F(KeptFile, a_file_with_another_name_is_read_and_never_written) {
  write("there", "text");
  fs::create_hard_link(at("there"), at("f"));
  EXPECT_EQ(read_kept(at("f"), 100).value(), "text");
  const auto opened = open_kept(at("f"), O_RDWR | O_TRUNC);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr(at("f").string()));
  EXPECT_EQ(read_file(at("there"), 100).value(), "text");
}

TEST_F(KeptFile, dev_null_is_an_empty_file_to_read) {
  EXPECT_EQ(read_file("/dev/null", 100).value(), "");
  const auto zero = read_file("/dev/zero", 100);
  ASSERT_FALSE(zero);
  EXPECT_THAT(zero.error().message, HasSubstr("/dev/zero is a device"));
}

TEST_F(KeptFile, a_pipe_that_the_shell_handed_over_is_read_to_its_end) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_file(fmt::format("/dev/fd/{}", ends[0]), 100).value(), "text");
  ::close(ends[0]);
}

class RemoveTree : public KeptFile {
protected:
  static void make_deep(const fs::path& folder, int levels) {
    const auto begin = fs::current_path();
    fs::create_directories(folder);
    fs::current_path(folder);
    for (int i = 0; i < levels; ++i) {
      ASSERT_EQ(::mkdir("d", 0755), 0);
      ASSERT_EQ(::chdir("d"), 0);
    }
    fs::current_path(begin);
  }
};

TEST_F(RemoveTree, goes_deeper_than_there_are_descriptors_or_room_in_a_path) {
  fs::create_directories(at("top/a/b"));
  make_deep(at("top/a/one"), 3000);
  make_deep(at("top/two"), 2000);
  fs::create_directories(at("top/z/y"));
  write("top/z/file", "text");
  const auto removed = remove_tree(at("top"));
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(path_exists(at("top")));
}

TEST_F(RemoveTree, opens_folders_that_are_closed_and_follows_no_link) {
  fs::create_directories(at("outside"));
  write("outside/file", "text");
  fs::create_directories(at("top/closed/inner"));
  fs::create_directory_symlink(at("outside"), at("top/closed/link"));
  ASSERT_EQ(::chmod(at("top/closed/inner").c_str(), 0), 0);
  ASSERT_EQ(::chmod(at("top/closed").c_str(), 0), 0);
  EXPECT_TRUE(remove_tree(at("top")));
  EXPECT_FALSE(path_exists(at("top")));
  EXPECT_TRUE(path_exists(at("outside/file")));
}

} // namespace
} // namespace cukit
