#include "pipeline/prefix.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Switch : public ::testing::Test {
protected:
  Switch() {
    EXPECT_TRUE(make_directories(fresh()));
    EXPECT_TRUE(create_file(fresh() / "new", "bytes"));
  }
  [[nodiscard]] fs::path fresh() const { return folder_.path() / "work/tree"; }
  [[nodiscard]] fs::path prefix() const { return folder_.path() / "cuda"; }

private:
  TempDirectory folder_ = TempDirectory::create(fs::temp_directory_path(), "switch-").value();
};

TEST_F(Switch, takes_a_free_place_or_an_empty_folder) {
  ASSERT_TRUE(switch_prefix(fresh(), prefix(), {}));
  EXPECT_THAT(list_directory(prefix()).value(), ElementsAre("new"));
  ASSERT_TRUE(rename_path(prefix(), fresh()));
  ASSERT_TRUE(make_directories(prefix()));
  ASSERT_TRUE(switch_prefix(fresh(), prefix(), {}));
  EXPECT_THAT(list_directory(prefix()).value(), ElementsAre("new"));
}

TEST_F(Switch, leaves_what_came_there_while_the_tree_was_built) {
  ASSERT_TRUE(check_prefix(prefix()));
  ASSERT_TRUE(make_directories(prefix()));
  ASSERT_TRUE(create_file(prefix() / "mine", "mine"));
  const auto refused = switch_prefix(fresh(), prefix(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no tree of cukit's"));
  EXPECT_THAT(list_directory(prefix()).value(), ElementsAre("mine"));
  EXPECT_THAT(list_directory(fresh()).value(), ElementsAre("new"));
}

TEST_F(Switch, leaves_a_file_or_a_link_in_its_place) {
  ASSERT_TRUE(create_file(prefix(), "mine"));
  EXPECT_FALSE(check_prefix(prefix()));
  EXPECT_FALSE(switch_prefix(fresh(), prefix(), {}));
  EXPECT_EQ(read_file(prefix(), 10).value(), "mine");
  fs::remove(prefix());
  fs::create_directory_symlink("elsewhere", prefix());
  EXPECT_FALSE(check_prefix(prefix()));
  EXPECT_FALSE(switch_prefix(fresh(), prefix(), {}));
  EXPECT_TRUE(fs::is_symlink(prefix()));
}

TEST_F(Switch, that_was_killed_is_ended_unless_somebody_took_the_place) {
  const auto journal = prefix().parent_path() / ".cukit-switch.cuda";
  ASSERT_TRUE(make_directories(journal));
  ASSERT_TRUE(rename_path(fresh(), journal / "tree"));
  ASSERT_TRUE(make_directories(prefix()));
  ASSERT_TRUE(create_file(prefix() / "mine", "mine"));
  EXPECT_FALSE(finish_switch(prefix(), {}));
  EXPECT_THAT(list_directory(prefix()).value(), ElementsAre("mine"));
  ASSERT_TRUE(remove_tree(prefix()));
  ASSERT_TRUE(finish_switch(prefix(), {}));
  EXPECT_THAT(list_directory(prefix()).value(), ElementsAre("new"));
  EXPECT_FALSE(path_exists(journal));
  ASSERT_TRUE(finish_switch(prefix(), {}));
}

} // namespace
} // namespace cukit::pipeline
