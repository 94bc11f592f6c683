#include "store/layout.hpp"
#include "store/system_store.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace cukit::store {
namespace {

class SystemStoreTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDirectory::create(fs::temp_directory_path(), "cukit-system-");
    ASSERT_TRUE(made);
    scratch_ = std::make_unique<TempDirectory>(std::move(*made));
    root_ = scratch_->path() / "opt/cukit";
    ASSERT_TRUE(make_directories(root_));
    environment_.set("CUKIT_SYSTEM_HOME", root_.string());
    environment_.set("CUKIT_HOME", (scratch_->path() / "own").string());
  }
  std::unique_ptr<TempDirectory> scratch_;
  fs::path root_;
  Environment environment_;
};

TEST_F(SystemStoreTest, stands_in_opt_unless_said_otherwise) {
  EXPECT_EQ(system_root(Environment()), "/opt/cukit");
  EXPECT_EQ(system_root(environment_), root_);
  environment_.set("CUKIT_SYSTEM_HOME", "none");
  EXPECT_EQ(system_root(environment_), "");
  EXPECT_TRUE(find_home(environment_)->system.empty());
  EXPECT_FALSE(find_system_home(environment_));
}

TEST_F(SystemStoreTest, is_looked_in_second) {
  EXPECT_TRUE(find_home(environment_)->system.empty()); // a folder that cukit never prepared
  ASSERT_TRUE(create_file(root_ / "version", "1\n"));
  const auto home = find_home(environment_);
  ASSERT_TRUE(home);
  EXPECT_EQ(home->system, root_);
  EXPECT_EQ(home->tree("aa"), scratch_->path() / "own/trees/aa");
  ASSERT_TRUE(make_directories(root_ / "trees/aa"));
  EXPECT_EQ(home->tree("aa"), root_ / "trees/aa");
  ASSERT_TRUE(make_directories(scratch_->path() / "own/trees/aa"));
  EXPECT_EQ(home->tree("aa"), scratch_->path() / "own/trees/aa");
}

TEST_F(SystemStoreTest, is_nothing_where_there_is_none) {
  ASSERT_TRUE(remove_tree(root_));
  EXPECT_TRUE(find_home(environment_)->system.empty());
  EXPECT_EQ(find_system_home(environment_)->root, root_);
}

TEST_F(SystemStoreTest, is_refused_when_a_folder_above_it_can_be_written_by_others) {
  ASSERT_EQ(::chmod(root_.parent_path().c_str(), 0777), 0);
  const auto refused = find_home(environment_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::host);
  EXPECT_EQ(refused.error().where, root_.parent_path());
  ASSERT_EQ(::chmod(root_.parent_path().c_str(), 01777), 0); // as /tmp
  EXPECT_TRUE(find_home(environment_));
}

TEST_F(SystemStoreTest, of_somebody_else_is_never_prepared) {
  if (::chown(root_.c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "giving a folder away needs root";
  }
  const auto refused = check_system_owner(root_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("user 12345"), std::string::npos);
  EXPECT_FALSE(prepare(Home{.root = root_, .cache = root_ / "cache", .is_system = true}));
  EXPECT_FALSE(path_exists(root_ / "store"));
}

} // namespace
} // namespace cukit::store
