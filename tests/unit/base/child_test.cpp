#include "base/child.hpp"
#include "base/files.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit {
namespace {

using namespace std::chrono_literals;

Command shell(const std::string& script) {
  Command command;
  command.arguments = {"/bin/sh", "-c", script};
  command.environment.set("PATH", "/usr/bin:/bin");
  command.time_limit = 30s;
  return command;
}

bool is_running(const std::string& pid) {
  const auto stat = read_file("/proc/" + pid + "/stat", 4096);
  // A killed process that its new parent has not collected yet is no longer running.
  return stat && stat->find(") Z ") == std::string::npos;
}

/// Processes that this one has started and not yet collected.
std::string children() {
  return read_file("/proc/thread-self/children", 1U << 16U).value_or("");
}

TEST(Child, row41_a_program_that_hangs_is_killed_with_all_it_started) {
  auto command = shell("sleep 600 & echo $!; sleep 600");
  command.time_limit = 300ms;
  const auto began = std::chrono::steady_clock::now();
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  EXPECT_TRUE(finished->timed_out);
  EXPECT_EQ(finished->signal, SIGKILL);
  const auto child = finished->output.substr(0, finished->output.find('\n'));
  ASSERT_FALSE(child.empty());
  for (int i = 0; i < 1000 && is_running(child); ++i) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(is_running(child)) << child;
}

TEST(Child, a_program_dies_with_all_it_started_when_this_process_is_killed) {
  const auto folder = TempDirectory::create(fs::temp_directory_path(), "child-").value();
  const auto note = folder.path() / "pids";
  const pid_t parent = ::fork();
  if (parent == 0) {
    static_cast<void>(
        run_command(shell("trap '' TERM HUP; sleep 600 & echo $! $$ > " + note.string() +
                          ".new; mv " + note.string() + ".new " + note.string() + "; wait")));
    ::_exit(0);
  }
  for (int i = 0; i < 20'000 && !path_exists(note); ++i) {
    std::this_thread::sleep_for(1ms);
  }
  const auto pids = read_file(note, 1000).value_or("");
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  std::istringstream words(pids);
  std::string pid;
  int seen = 0;
  while (words >> pid) {
    for (int i = 0; i < 20'000 && is_running(pid); ++i) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_FALSE(is_running(pid)) << pid;
    ++seen;
  }
  EXPECT_EQ(seen, 2) << pids;
}

TEST(Child, nothing_is_left_of_a_program_that_ended) {
  const auto before = children();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(run_command(shell("exit 3")));
  }
  EXPECT_EQ(children(), before);
}

TEST(Child, row41_a_program_that_leaves_a_child_with_its_output_open_ends_in_time) {
  auto command = shell("sleep 600 & exit 0");
  command.time_limit = 500ms;
  const auto began = std::chrono::steady_clock::now();
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST(Child, row41_a_gigabyte_of_output_is_read_and_not_kept) {
  auto command = shell("head -c 1073741824 /dev/zero; echo late >&2");
  command.output_limit = 1000;
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 0);
  EXPECT_EQ(finished->output.size(), 1000U);
  EXPECT_TRUE(finished->output_was_cut);
  EXPECT_EQ(finished->errors, "late\n");
}

TEST(Child, row41_a_program_that_forks_without_end_goes_when_its_time_is_up) {
  // Each generation starts the next and goes away: no single process lives long.
  auto command =
      shell(R"(step() { [ "$1" -gt 100000 ] || { (step $(($1 + 1))) & } ; }; step 0; sleep 600)");
  command.time_limit = 300ms;
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->timed_out);
}

TEST(Child, row41_a_crash_is_a_signal_and_no_exit_code_of_its_own) {
  const auto finished = run_command(shell("kill -SEGV $$"));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->signal, SIGSEGV);
  EXPECT_EQ(finished->exit_code, 128 + SIGSEGV);
}

TEST(Child, sees_the_given_environment_and_nothing_else) {
  const auto finished = run_command([] {
    Command command;
    command.arguments = {"/usr/bin/env"};
    command.environment.set("ONE", "1");
    return command;
  }());
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->output, "ONE=1\n");
}

TEST(Child, is_fed_its_input) {
  auto command = shell("wc -c");
  command.input = std::string(300'000, 'x');
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_NE(finished->output.find("300000"), std::string::npos);
}

TEST(Child, that_does_not_read_its_input_ends_all_the_same) {
  ASSERT_NE(std::signal(SIGPIPE, SIG_IGN), SIG_ERR); // as main() does
  auto command = shell("exit 3");
  command.input = std::string(300'000, 'x');
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 3);
}

TEST(Child, that_cannot_be_started_is_an_error_with_the_reason) {
  auto command = shell("");
  command.arguments = {"/nonexistent/program"};
  const auto missing = run_command(command);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/nonexistent/program"), std::string::npos);
  command.arguments = {"no-such-program-anywhere"};
  const auto unknown = run_command(command);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("not on PATH"), std::string::npos);
}

TEST(Child, ends_at_once_when_a_stop_is_asked_for) {
  std::stop_source stop;
  const std::jthread later([&] { stop.request_stop(); });
  const auto began = std::chrono::steady_clock::now();
  const auto stopped = run_command(shell("sleep 600"), stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

} // namespace
} // namespace cukit
