// A home on a network file system, as far as its errors can be injected: no locks, stale handles,
// links and renames that are refused. Nothing of this ran on a real NFS.
#include "store_fixture.hpp"
#include "support/faults.hpp"

#include <fmt/format.h>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class NetworkDisk : public StoreRun {
protected:
  void SetUp() override {
    if (const auto why = no_faults_because(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    expected_ = up("demo");
    ASSERT_TRUE(remove_tree(playground.home()));
    faults_ = std::make_unique<Faults>(playground);
  }
  [[nodiscard]] Finished again(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"up", "--no-validate", "--json", "demo.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return playground.run(arguments);
  }
  void expect_same_tree(const Finished& done, const std::string& what) {
    EXPECT_EQ(done.exit_code, 0) << what << ": " << done.output << done.errors;
    EXPECT_EQ(value_of(done.output, "digest"), expected_) << what;
    EXPECT_NE(faults_->report(), "") << what << " was never met";
    faults_->forget();
    run({"verify"});
    ASSERT_TRUE(remove_tree(playground.home()));
  }
  std::string expected_;
  std::unique_ptr<Faults> faults_;
};

TEST_F(NetworkDisk, row35_without_locks_it_is_refused_and_goes_on_when_told_to) {
  for (const auto* error : {"ENOLCK", "ENOSYS", "EOPNOTSUPP"}) {
    faults_->fail(fmt::format("flock:1+:{}", error));
    const auto refused = again();
    EXPECT_EQ(refused.exit_code, 6) << error << refused.output << refused.errors;
    EXPECT_THAT(refused.output, AllOf(HasSubstr("keeps no locks"), HasSubstr("--no-lock")));
    expect_same_tree(again({"--no-lock"}), error);
  }
}

TEST_F(NetworkDisk, gc_without_locks_is_refused_and_goes_on_when_told_to) {
  faults_->forget();
  run({"build", "demo.yaml"});
  faults_->fail("flock:1+:ENOLCK");
  EXPECT_THAT(run({"gc"}, 6), HasSubstr("--no-lock"));
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1));
  run({"gc", "--no-lock"});
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
}

TEST_F(NetworkDisk, a_stale_handle_is_tried_once_more) {
  for (const int n : {1, 5, 20}) {
    faults_->fail(fmt::format("open:{}:ESTALE", n));
    expect_same_tree(again(), fmt::format("open {}", n));
  }
  faults_->fail("open:1+:ESTALE:home/");
  const auto refused = again();
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.output, HasSubstr("Stale file handle"));
}

TEST_F(NetworkDisk, a_stale_name_or_byte_is_looked_for_once_more) {
  for (const auto* rule :
       {"stat:3:ESTALE", "stat:40:ESTALE", "read:2:ESTALE:demo", "rename:1:ESTALE",
        "rename:4:ESTALE", "mkdir:2:ESTALE", "unlink:1:ESTALE"}) {
    faults_->fail(rule);
    expect_same_tree(again(), rule);
  }
  faults_->fail("rename:1+:ESTALE:home/");
  const auto refused = again();
  EXPECT_EQ(refused.exit_code, 6) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("Stale file handle"));
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
}

TEST_F(NetworkDisk, a_tree_whose_files_become_stale_while_they_are_read_is_not_called_damaged) {
  faults_->forget();
  run({"up", "--no-validate", "demo.yaml"});
  for (const auto* rule :
       {"read:1:ESTALE:trees/", "read:9:ESTALE:store/", "stat:30:ESTALE:trees/"}) {
    faults_->fail(rule);
    EXPECT_THAT(run({"verify"}), Not(HasSubstr("modified"))) << rule;
    EXPECT_NE(faults_->report(), "") << rule;
    faults_->forget();
  }
}

TEST_F(NetworkDisk, a_home_on_two_file_systems_is_refused_with_what_to_do) {
  faults_->fail("rename:1+:EXDEV:home/store");
  const auto refused = again();
  EXPECT_EQ(refused.exit_code, 6) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("on one file system"));
  EXPECT_THAT(playground.names_in("store"), IsEmpty());
  faults_->forget();
  EXPECT_EQ(again().exit_code, 0);
}

TEST_F(NetworkDisk, row36_a_refused_link_is_a_copy_and_is_told_once) {
  for (const auto* error : {"EXDEV", "EPERM", "EMLINK", "EOPNOTSUPP", "EAGAIN"}) {
    faults_->fail(fmt::format("clone:1+:EOPNOTSUPP,link:1+:{}", error));
    const auto done = again({"--progress", "lines"});
    EXPECT_THAT(done.errors, HasSubstr("were copied into the tree")) << error;
    const auto first = done.errors.find("were copied into the tree");
    EXPECT_EQ(done.errors.find("were copied into the tree", first + 1), std::string::npos);
    expect_same_tree(done, error);
  }
}

TEST_F(NetworkDisk, row36_a_reflink_refused_for_a_moment_falls_back_for_that_file_alone) {
  for (const auto* error : {"EAGAIN", "EINVAL", "EPERM", "ETXTBSY", "EXDEV"}) {
    faults_->fail(fmt::format("clone:1:{}", error));
    const auto done = again({"--progress", "lines"});
    EXPECT_THAT(done.errors, Not(HasSubstr("were copied into the tree"))) << error;
    expect_same_tree(done, error);
  }
}

TEST_F(NetworkDisk, row36_an_error_of_the_disk_is_not_taken_for_a_missing_ability) {
  faults_->fail("clone:1+:EOPNOTSUPP,link:3:EIO");
  const auto failed = again();
  EXPECT_EQ(failed.exit_code, 6) << failed.output;
  EXPECT_THAT(failed.output, HasSubstr("Input/output error"));
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
}

} // namespace
} // namespace cukit::test
