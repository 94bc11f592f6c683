// Row 19: told to stop while something long goes on, the program ends within a second, its children
// with it; what was downloaded is kept, and the next run clears away the rest.
#include "support/patience.hpp"
#include "trouble_fixture.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

namespace cukit::test {
namespace {

using Interrupt = Trouble;

void wait_until(const std::function<bool()>& holds) {
  for (int i = 0; i < 20'000 && !holds(); ++i) {
    std::this_thread::sleep_for(1ms);
  }
}

/// Signals and returns how long the end took; a program that does not end is a failure.
std::chrono::milliseconds stop(Running& running, int number, int expected_code) {
  const auto began = std::chrono::steady_clock::now();
  running.signal(number);
  EXPECT_EQ(running.wait(20s), expected_code) << running.output();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               began);
}

TEST_F(Interrupt, row19_while_the_index_is_read) {
  const auto path = index.page_path("nvidia-nvvm");
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    server.forget();
    server.always(path, Fault::stall_after(10));
    Running running(playground, {"up", "--no-validate", manifest.string()});
    wait_until([&] { return server.requests(path) > 0; });
    EXPECT_LT(stop(running, number, 130), k_soon);
    EXPECT_FALSE(path_exists(playground.path() / "demo.lock.yaml"));
  }
  server.always(path, Fault::none());
  expect_clean_and_recoverable();
}

TEST_F(Interrupt, row19_while_a_wheel_comes_and_its_bytes_are_kept) {
  const auto path = index.file_path(index.file_of("nvidia-nvvm"));
  server.script(path, {Fault::stall_after(150'000)});
  {
    Running running(playground, {"up", "--no-validate", manifest.string()});
    const auto part = [&] {
      for (const auto& name : playground.names_in("cache/downloads")) {
        const auto file = playground.home() / "cache/downloads" / name;
        std::error_code ignored;
        if (name.ends_with(".part") && fs::file_size(file, ignored) == 150'000) {
          return true;
        }
      }
      return false;
    };
    wait_until(part);
    EXPECT_LT(stop(running, SIGINT, 130), k_soon);
    EXPECT_TRUE(part()) << running.output();
  }
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  server.forget();
  expect_clean_and_recoverable();
  EXPECT_EQ(server.seen(path).at(0).header("range"), "bytes=150000-");
}

/// Wheels that take a while to unpack.
class Unpacking : public Trouble {
protected:
  Unpacking() {
    large.add_release("13.0.99", "13.0.188");
    large.publish();
    playground.environment.set("CUKIT_INDEX_URL", large.url());
  }
  FaultServer other;
  FakeIndex large{other, 40'000'000};
};

TEST_F(Unpacking, row19_while_a_wheel_is_unpacked) {
  {
    Running running(playground, {"up", "--no-validate", manifest.string()});
    wait_until([&] { return !playground.names_in("staging").empty(); });
    const int code = [&] {
      const auto began = std::chrono::steady_clock::now();
      running.signal(SIGTERM);
      const int ended = running.wait(20s);
      EXPECT_LT(std::chrono::steady_clock::now() - began, k_soon);
      return ended;
    }();
    EXPECT_EQ(code, 130) << running.output();
  }
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  expect_clean_and_recoverable();
}

TEST_F(Unpacking, row19_while_a_tree_is_linked_or_at_any_other_moment) {
  const std::vector<std::string> command{"up", "--no-validate", manifest.string()};
  ASSERT_EQ(playground.run({"fetch", manifest.string()}).exit_code, 0);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(playground.run(command).exit_code, 0);
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - began);
  std::mt19937 engine(2026);
  for (int round = 0; round < 12; ++round) {
    ASSERT_TRUE(remove_tree(playground.home() / "trees"));
    ASSERT_TRUE(remove_tree(playground.home() / "names"));
    Running running(playground, command);
    std::this_thread::sleep_for(
        std::chrono::microseconds(engine() % static_cast<unsigned>(whole.count() + 1)));
    const auto asked = std::chrono::steady_clock::now();
    running.signal(SIGINT);
    const int code = running.wait(20s);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, k_soon);
    // Before the program listens, the signal ends it as any other program.
    EXPECT_THAT(code, ::testing::AnyOf(0, 130)) << running.output();
    const auto again = playground.run(command);
    ASSERT_EQ(again.exit_code, 0) << again.errors;
    ASSERT_EQ(playground.names_in("trees").size(), 1U);
    ASSERT_THAT(playground.names_in("staging"), IsEmpty());
  }
  EXPECT_EQ(playground.run({"verify"}).exit_code, 0);
}

TEST_F(Interrupt, row19_while_kernels_compile_ends_the_compilers_too) {
  FaultServer other;
  FakeIndex sleeping(other);
  sleeping.set_nvcc("case $* in *version*) echo 'Cuda compilation tools, release 13.0, "
                    "V13.0.188';; *) echo $$ >>\"$TMPDIR/pids\" 2>/dev/null; exec sleep 60;; esac");
  sleeping.add_release("13.0.99", "13.0.188");
  sleeping.publish();
  playground.environment.set("CUKIT_INDEX_URL", sleeping.url());
  Running running(playground, {"up", manifest.string()});
  // The name of the tree's nvcc in a command line of this machine tells that compiling began.
  const auto compiling = [&] {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      // A process may end while it is looked at: then it has no line.
      const auto line = read_file(entry.path() / "cmdline", 1U << 20U).value_or("");
      if (line.starts_with("sleep") && line.find("60") != std::string::npos) {
        std::error_code ignored;
        const auto directory = fs::read_symlink(entry.path() / "cwd", ignored).string();
        if (directory.starts_with(playground.path().string())) {
          return true;
        }
      }
    }
    return false;
  };
  for (int i = 0; i < 2000 && !compiling(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  ASSERT_TRUE(compiling()) << running.output();
  EXPECT_LT(stop(running, SIGTERM, 130), k_soon);
  EXPECT_FALSE(compiling());
  EXPECT_THAT(playground.names_in("names"), IsEmpty());
}

} // namespace
} // namespace cukit::test
