#include "store/hand_on.hpp"
#include "store/hold.hpp"
#include "store/layout.hpp"
#include "store/usage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

namespace cukit::store {
namespace {

using namespace std::chrono_literals;

class HoldTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDirectory::create(fs::temp_directory_path(), "cukit-hold-");
    ASSERT_TRUE(made);
    scratch_ = std::make_unique<TempDirectory>(std::move(*made));
    folder_ = scratch_->path() / "entry";
    ASSERT_TRUE(make_directories(folder_));
  }
  bool can_be_taken() {
    const auto alone = FolderHold::try_exclusive(folder_);
    EXPECT_TRUE(alone);
    return alone && alone->has_value();
  }
  std::unique_ptr<TempDirectory> scratch_;
  fs::path folder_;
};

TEST_F(HoldTest, several_may_use_a_folder_and_none_may_take_it_meanwhile) {
  {
    const auto one = FolderHold::shared(folder_);
    const auto two = FolderHold::shared(folder_);
    ASSERT_TRUE(one && *one);
    ASSERT_TRUE(two && *two);
    EXPECT_FALSE(can_be_taken());
  }
  EXPECT_TRUE(can_be_taken());
}

TEST_F(HoldTest, one_that_is_handed_on_lasts_as_long_as_the_program_that_takes_over) {
  std::array<int, 2> ready{};
  std::array<int, 2> end{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(end.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto hold = FolderHold::shared(folder_);
    if (!hold || !*hold || !hand_on_hold(folder_) || ::dup2(ready[1], 1) < 0 ||
        ::dup2(end[0], 0) < 0) {
      ::_exit(1);
    }
    ::close(end[1]);
    ::execl("/bin/sh", "sh", "-c", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; echo; read line",
            nullptr);
    ::_exit(1);
  }
  ::close(ready[1]);
  ::close(end[0]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(can_be_taken());
  ::close(end[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(ready[0]);
  EXPECT_TRUE(can_be_taken());
}

TEST_F(HoldTest, what_is_not_there_cannot_be_held) {
  const auto none = FolderHold::shared(scratch_->path() / "nothing");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  EXPECT_FALSE(FolderHold::try_exclusive(scratch_->path() / "nothing")->has_value());
}

TEST_F(HoldTest, a_hold_follows_the_folder_when_it_is_renamed) {
  const auto hold = FolderHold::shared(folder_);
  ASSERT_TRUE(hold && *hold);
  fs::rename(folder_, scratch_->path() / "elsewhere");
  folder_ = scratch_->path() / "elsewhere";
  EXPECT_FALSE(can_be_taken());
}

TEST_F(HoldTest, row35_the_hold_of_a_killed_process_is_free_at_once_and_its_child_has_none) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t holder = ::fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    const auto hold = FolderHold::shared(folder_);
    const pid_t child = ::fork();
    if (child == 0) { // outlives the holder; the hold is closed at exec
      ::execl("/bin/sleep", "sleep", "5", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    static_cast<void>(::write(ready[1], &child, sizeof child));
    ::pause();
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ready[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_FALSE(can_be_taken());
  // The child has become another program when its name says so.
  for (int i = 0; i < 10'000; ++i) {
    std::ifstream name("/proc/" + std::to_string(child) + "/comm");
    std::string text;
    if (std::getline(name, text) && text == "sleep") {
      break;
    }
    ::usleep(100);
  }
  ASSERT_EQ(::kill(holder, SIGKILL), 0);
  ASSERT_EQ(::waitpid(holder, nullptr, 0), holder);
  EXPECT_TRUE(can_be_taken());
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(HoldTest, a_read_only_folder_can_be_moved_out) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  ASSERT_TRUE(move_out(folder_, scratch_->path() / "out"));
  EXPECT_FALSE(path_exists(folder_));
  EXPECT_TRUE(path_exists(scratch_->path() / "out"));
}

TEST_F(HoldTest, usage_counts_a_file_with_two_names_once_and_knows_names_elsewhere) {
  const std::string bytes(100'000, 'x');
  ASSERT_TRUE(create_file(folder_ / "a", bytes));
  ASSERT_TRUE(create_file(folder_ / "alone", bytes));
  fs::create_hard_link(folder_ / "a", folder_ / "b");
  Usage inside;
  ASSERT_TRUE(inside.add(folder_));
  const auto blocks = [&](const char* name) {
    struct stat info {};
    EXPECT_EQ(::stat((folder_ / name).c_str(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  };
  EXPECT_EQ(inside.bytes(), blocks("a") + blocks("alone"));
  EXPECT_EQ(inside.own_bytes(), inside.bytes());
  fs::create_hard_link(folder_ / "a", scratch_->path() / "outside");
  Usage again;
  ASSERT_TRUE(again.add(folder_));
  EXPECT_EQ(again.bytes(), inside.bytes());
  EXPECT_EQ(again.own_bytes(), blocks("alone"));
  EXPECT_TRUE(again.add(scratch_->path() / "nothing"));
}

class StagingAge : public HoldTest {
protected:
  void SetUp() override {
    HoldTest::SetUp();
    home_ = Home{scratch_->path() / "home", scratch_->path() / "home/cache"};
    ASSERT_TRUE(prepare(home_));
    ASSERT_TRUE(make_directories(home_.staging() / "dead"));
    ASSERT_TRUE(create_file(home_.staging() / "dead/.lock", "1\n"));
  }
  Home home_;
};

TEST_F(StagingAge, row44_a_free_lock_is_not_enough_before_the_age) {
  const std::int64_t now = std::time(nullptr);
  EXPECT_TRUE(abandoned(home_, 1h, now)->empty());
  EXPECT_TRUE(sweep(home_, 1h, now)->empty());
  EXPECT_EQ(abandoned(home_, 1h, now + 7200)->size(), 1U);
  EXPECT_EQ(sweep(home_, 1h, now + 7200)->size(), 1U);
  EXPECT_FALSE(path_exists(home_.staging() / "dead"));
}

TEST_F(StagingAge, row44_age_is_not_enough_while_the_lock_is_held) {
  const std::int64_t now = std::time(nullptr);
  const auto held = FileLock::acquire(home_.staging() / "dead/.lock", FileLock::Mode::exclusive);
  ASSERT_TRUE(held);
  EXPECT_TRUE(sweep(home_, 1h, now + 7200)->empty());
  EXPECT_TRUE(path_exists(home_.staging() / "dead"));
}

TEST_F(StagingAge, row44_looking_makes_nothing_younger) {
  const std::int64_t now = std::time(nullptr);
  const utimbuf old{now - 7200, now - 7200};
  ASSERT_EQ(::utime((home_.staging() / "dead/.lock").c_str(), &old), 0);
  ASSERT_EQ(::utime((home_.staging() / "dead").c_str(), &old), 0);
  EXPECT_EQ(abandoned(home_, 1h, now)->size(), 1U);
  EXPECT_EQ(abandoned(home_, 3h, now)->size(), 0U);
  EXPECT_EQ(sweep(home_, 1h, now)->size(), 1U);
}

} // namespace
} // namespace cukit::store
