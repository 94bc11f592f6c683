// Killed at any moment: what is visible is whole, and the next run succeeds.
#include "support/cukit_program.hpp"
#include "support/fake_index.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <random>
#include <thread>

namespace cukit::test {
namespace {

using ::testing::IsEmpty;

int rounds() {
  const char* text = std::getenv("CUKIT_CRASH_ROUNDS");
  return text == nullptr ? 20 : std::atoi(text);
}

TEST(Crash, a_run_that_is_killed_anywhere_is_simply_run_again) {
  FaultServer server;
  FakeIndex index(server, 2'000'000);
  index.add_release("13.0.99", "13.0.188");
  index.publish();
  Playground playground;
  playground.environment.set("CUKIT_INDEX_URL", index.url());
  const auto manifest = playground.write(
      "demo.yaml", "cukit: 1\nname: demo\ngpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\n");
  const std::vector<std::string> command{"up", "--no-validate", manifest.string()};
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(playground.run(command).exit_code, 0);
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - began);

  std::mt19937 engine(2026);
  for (int round = 0; round < rounds(); ++round) {
    // From nothing, from an entry less, or from a tree less.
    if (round % 3 == 0) {
      ASSERT_TRUE(remove_tree(playground.home()));
    } else if (const auto keys = playground.names_in(round % 3 == 1 ? "store" : "trees");
               !keys.empty()) {
      ASSERT_TRUE(remove_tree(playground.home() / "trees"));
      ASSERT_TRUE(round % 3 == 2 ||
                  remove_tree(playground.home() / "store" / keys[engine() % keys.size()]));
    }
    {
      Running running(playground, command);
      std::this_thread::sleep_for(
          std::chrono::microseconds(engine() % static_cast<unsigned>(whole.count() + 1000)));
      running.signal(SIGKILL);
      running.wait(std::chrono::seconds(10));
    }
    const auto verified = playground.run({"verify"});
    ASSERT_EQ(verified.exit_code, 0)
        << "round " << round << ": " << verified.output << verified.errors;
    const auto again = playground.run(command);
    ASSERT_EQ(again.exit_code, 0) << "round " << round << ": " << again.errors;
    ASSERT_EQ(playground.names_in("trees").size(), 1U);
    ASSERT_THAT(playground.names_in("staging"), IsEmpty()) << "round " << round;
  }
}

} // namespace
} // namespace cukit::test
