#include "base/file_lock.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit {
namespace {

class FileLockTest : public ::testing::Test {
protected:
  fs::path file() const { return folder_.path() / "lock"; }
  bool is_free() const {
    const auto lock = FileLock::try_acquire(file(), FileLock::Mode::exclusive);
    EXPECT_TRUE(lock) << lock.error().message;
    return lock && lock->has_value();
  }

  TempDirectory folder_ = TempDirectory::create(fs::temp_directory_path(), "cukit-lock-").value();
};

/// A process of its own that does `what` and waits to be killed; a byte in the pipe says that it is
/// done.
template <typename What> pid_t start_process(const What& what) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    what();
    static_cast<void>(!::write(ends[1], "x", 1));
    while (true) {
      ::pause();
    }
  }
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  ::close(ends[0]);
  return pid;
}

void kill_process(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(FileLockTest, row35_a_killed_holder_holds_nothing) {
  const pid_t holder = start_process([&] {
    static auto held = FileLock::acquire(file(), FileLock::Mode::exclusive);
    if (!held) {
      ::_exit(1);
    }
  });
  EXPECT_FALSE(is_free());
  kill_process(holder);
  EXPECT_TRUE(is_free());
}

TEST_F(FileLockTest, row35_a_program_that_the_holder_started_does_not_hold) {
  const auto note = folder_.path() / "pid";
  const pid_t holder = start_process([&] {
    static auto held = FileLock::acquire(file(), FileLock::Mode::exclusive);
    if (!held) {
      ::_exit(1);
    }
    const pid_t program = ::fork();
    if (program == 0) {
      ::execl("/bin/sleep", "sleep", "60", nullptr);
      ::_exit(127);
    }
    static_cast<void>(write_file_atomic(note, std::to_string(program)));
    // exec has happened as soon as the name of the process has changed.
    while (read_file("/proc/" + std::to_string(program) + "/comm", 100).value_or("") != "sleep\n") {
      std::this_thread::yield();
    }
  });
  kill_process(holder);
  EXPECT_TRUE(is_free());
  const auto program = static_cast<pid_t>(std::stol(read_file(note, 20).value()));
  EXPECT_EQ(::kill(program, 0), 0) << "the program should have survived its parent";
  ::kill(program, SIGKILL);
}

TEST_F(FileLockTest, row35_the_holder_is_named_to_who_waits) {
  const pid_t holder = start_process(
      [&] { static auto held = FileLock::acquire(file(), FileLock::Mode::exclusive); });
  int named = 0;
  std::stop_source stop;
  const auto waited =
      FileLock::acquire(file(), FileLock::Mode::exclusive, stop.get_token(), [&](int process) {
        named = process;
        stop.request_stop();
      });
  kill_process(holder);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::interrupted);
  EXPECT_EQ(named, holder);
}

TEST_F(FileLockTest, whose_file_its_holder_removed_is_made_anew_by_who_waited) {
  auto held = FileLock::acquire(file(), FileLock::Mode::exclusive);
  ASSERT_TRUE(held);
  Result<FileLock> next = fail(ErrorCode::host, "nobody waited");
  {
    std::jthread waiting([&] {
      next = FileLock::acquire(file(), FileLock::Mode::exclusive, {},
                               [&](int) { // it has waited for a second: the file is open
                                 EXPECT_EQ(::unlink(file().c_str()), 0);
                                 held = fail(ErrorCode::host, "let go");
                               });
    });
  }
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_TRUE(path_exists(file()));
  EXPECT_FALSE(is_free()); // the lock that others can find is the one that is held
}

TEST_F(FileLockTest, is_shared_by_readers_and_refused_to_a_writer) {
  const auto one = FileLock::acquire(file(), FileLock::Mode::shared);
  const auto two = FileLock::try_acquire(file(), FileLock::Mode::shared);
  ASSERT_TRUE(one && two && two->has_value());
  EXPECT_FALSE(is_free());
}

TEST_F(FileLockTest, names_a_folder_that_is_not_there) {
  const auto lock = FileLock::acquire(folder_.path() / "nowhere/lock", FileLock::Mode::exclusive);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::host);
  EXPECT_NE(lock.error().message.find("nowhere/lock"), std::string::npos);
}

} // namespace
} // namespace cukit
