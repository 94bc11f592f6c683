// Where a cukit.yaml is found for a command that was given no name, and where nobody looks.
#include "home/nearest.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cukit::home {
namespace {

class Nearest : public ::testing::Test {
protected:
  Nearest() { EXPECT_TRUE(make_directories(at("project/deep/deeper"))); }
  [[nodiscard]] fs::path at(const std::string& name) const {
    return fs::canonical(folder.path()) / name;
  }
  void put(const std::string& name) const {
    ASSERT_TRUE(write_file_atomic(at(name), "cukit: 1\n"));
  }
  [[nodiscard]] std::string found(const std::string& from, const std::string& home = "nowhere") {
    return nearest_manifest(at(from), at(home)).value_or("").string();
  }
  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "cukit-nearest-");
};

TEST_F(Nearest, the_nearest_above_counts) {
  put("cukit.yaml");
  EXPECT_EQ(found("project/deep/deeper"), at("cukit.yaml"));
  put("project/cukit.yaml");
  EXPECT_EQ(found("project/deep/deeper"), at("project/cukit.yaml"));
  EXPECT_EQ(found("project"), at("project/cukit.yaml"));
  ASSERT_TRUE(make_directories(at("project/deep/cukit.yaml")));
  EXPECT_EQ(found("project/deep"), at("project/cukit.yaml")) << "a folder is no manifest";
}

TEST_F(Nearest, nothing_above_the_home_is_looked_at) {
  put("cukit.yaml");
  EXPECT_EQ(found("project/deep", "project"), "");
  put("project/cukit.yaml");
  EXPECT_EQ(found("project/deep", "project"), at("project/cukit.yaml")) << "the home itself is";
  EXPECT_EQ(::symlink("project", at("by-another-name").c_str()), 0);
  ASSERT_TRUE(remove_tree(at("project/cukit.yaml")));
  EXPECT_EQ(found("project/deep", "by-another-name"), "");
}

TEST_F(Nearest, a_folder_of_another_users_ends_the_search) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  put("cukit.yaml");
  put("project/cukit.yaml");
  ASSERT_EQ(::chown(at("project").c_str(), 12345, 12345), 0);
  EXPECT_EQ(found("project/deep"), "") << "neither there nor above";
  ASSERT_EQ(::chown(at("project").c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(at("project/cukit.yaml").c_str(), 12345, 12345), 0);
  EXPECT_EQ(found("project/deep"), at("cukit.yaml")) << "a file that somebody else put there";
}

TEST_F(Nearest, the_root_of_a_mount_ends_the_search) {
  put("cukit.yaml");
  const auto deep = at("project/deep");
  // in a process of its own, whose mounts end with it
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(deep.c_str(), deep.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      ::_exit(77);
    }
    ::_exit(nearest_manifest(deep / "deeper", "/nowhere") ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "nothing can be mounted here";
  }
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

} // namespace
} // namespace cukit::home
