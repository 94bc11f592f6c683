// `doctor --watch` beside signals, and builds that leave something running.
#include "support/cukit_program.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <gmock/gmock.h>
#include <thread>

namespace cukit::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// Waits until the build has said that it is there.
void expect_started(Running& running) {
  EXPECT_TRUE(running.says("building", seconds(60))) << running.output();
}

TEST(Watch, ends_a_build_when_it_is_told_to_end) {
  const Playground playground;
  Running running(playground, {"doctor", "--watch", "sh", "-c", "echo building; exec sleep 1000"});
  expect_started(running);
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait(seconds(60)), 130) << running.output();
}

TEST(Watch, ends_a_build_that_does_not_listen) {
  const Playground playground;
  Running running(playground, {"doctor", "--watch", "sh", "-c",
                               "trap '' TERM; echo building; while :; do sleep 1; done"});
  expect_started(running);
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait(seconds(60)), 130) << running.output();
}

TEST(Watch, does_not_wait_for_what_a_build_leaves_running) {
  const Playground playground;
  Running running(playground, {"doctor", "--watch", "sh", "-c",
                               "sleep 1000 & echo $! > daemon; echo building; exit 0"});
  EXPECT_EQ(running.wait(seconds(60)), 0) << running.output();
  EXPECT_THAT(running.output(), HasSubstr("building"));
  const auto daemon = read_file(playground.path() / "daemon", 100);
  ASSERT_TRUE(daemon);
  EXPECT_EQ(::kill(std::stoi(*daemon), SIGKILL), 0) << "it was to be left running";
}

TEST(Watch, keeps_all_that_a_build_has_said_at_its_end) {
  const Playground playground;
  const auto done = playground.run(
      {"doctor", "--json", "--watch", "sh", "-c",
       "i=0; while [ $i -lt 2000 ]; do echo line $i of what the build says; i=$((i+1)); done; "
       "echo \"AttributeError: module 'torch.utils' has no attribute 'cpp_extension'\"; exit 3"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.output, HasSubstr("incomplete-import"));
}

} // namespace
} // namespace cukit::test
