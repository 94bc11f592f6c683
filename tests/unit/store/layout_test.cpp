#include "store/layout.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit::store {
namespace {

class LayoutTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDirectory::create(fs::temp_directory_path(), "cukit-layout-");
    ASSERT_TRUE(made);
    scratch_ = std::make_unique<TempDirectory>(std::move(*made));
    home_ = Home{scratch_->path() / "home", scratch_->path() / "home/cache"};
  }
  std::unique_ptr<TempDirectory> scratch_;
  Home home_;
};

TEST(FindHome, takes_CUKIT_HOME_and_keeps_the_cache_below_it) {
  const auto home = find_home(Environment({{"CUKIT_HOME", "/data/cukit/"}, {"HOME", "/home/u"}}));
  ASSERT_TRUE(home);
  EXPECT_EQ(home->root, "/data/cukit");
  EXPECT_EQ(home->cache, "/data/cukit/cache");
}

TEST(FindHome, counts_a_relative_CUKIT_HOME_from_the_working_folder) {
  const auto home = find_home(Environment({{"CUKIT_HOME", "here/../there"}, {"HOME", "/home/u"}}));
  ASSERT_TRUE(home);
  EXPECT_EQ(home->root, fs::current_path() / "there");
}

TEST(FindHome, follows_the_XDG_variables) {
  const auto home = find_home(
      Environment({{"XDG_DATA_HOME", "/d"}, {"XDG_CACHE_HOME", "/c"}, {"HOME", "/home/u"}}));
  ASSERT_TRUE(home);
  EXPECT_EQ(home->root, "/d/cukit");
  EXPECT_EQ(home->cache, "/c/cukit");
}

TEST(FindHome, ignores_relative_XDG_variables_and_empty_ones) {
  const auto home =
      find_home(Environment({{"XDG_DATA_HOME", "d"}, {"XDG_CACHE_HOME", ""}, {"HOME", "/home/u"}}));
  ASSERT_TRUE(home);
  EXPECT_EQ(home->root, "/home/u/.local/share/cukit");
  EXPECT_EQ(home->cache, "/home/u/.cache/cukit");
}

TEST(FindHome, says_what_to_set_when_there_is_no_home) {
  const auto home = find_home(Environment());
  ASSERT_FALSE(home);
  EXPECT_EQ(home.error().code, ErrorCode::host);
  EXPECT_NE(home.error().hint.find("CUKIT_HOME"), std::string::npos);
}

TEST_F(LayoutTest, prepare_makes_the_folders_and_may_be_repeated) {
  ASSERT_TRUE(prepare(home_));
  ASSERT_TRUE(prepare(home_));
  for (const char* name :
       {"store", "trees", "names", "reports", "staging", "locks", "logs", "cache"}) {
    EXPECT_TRUE(is_directory(home_.root / name)) << name;
  }
  EXPECT_EQ(*read_file(home_.root / "version", 10), "1\n");
}

TEST_F(LayoutTest, prepare_makes_0755_folders_whatever_the_umask) {
  const mode_t before = ::umask(0077);
  const auto prepared = prepare(home_);
  ::umask(before);
  ASSERT_TRUE(prepared);
  struct stat info {};
  ASSERT_EQ(::stat(home_.store().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0755U);
}

TEST_F(LayoutTest, prepare_refuses_a_newer_layout_by_name_and_makes_nothing) {
  ASSERT_TRUE(make_directories(home_.root));
  ASSERT_TRUE(create_file(home_.root / "version", "2\n"));
  const auto prepared = prepare(home_);
  ASSERT_FALSE(prepared);
  EXPECT_NE(prepared.error().message.find("layout 2"), std::string::npos);
  EXPECT_FALSE(path_exists(home_.store()));
}

TEST_F(LayoutTest, prepare_refuses_a_version_that_is_no_number) {
  ASSERT_TRUE(make_directories(home_.root));
  ASSERT_TRUE(create_file(home_.root / "version", "one\n"));
  EXPECT_FALSE(prepare(home_));
}

TEST_F(LayoutTest, a_staging_folder_vanishes_with_its_value) {
  ASSERT_TRUE(prepare(home_));
  fs::path path;
  {
    const auto staging = Staging::create(home_);
    ASSERT_TRUE(staging);
    path = staging->path();
    EXPECT_TRUE(is_directory(path));
  }
  EXPECT_FALSE(path_exists(path));
}

TEST_F(LayoutTest, sweep_leaves_a_held_folder_alone) {
  ASSERT_TRUE(prepare(home_));
  const auto staging = Staging::create(home_);
  ASSERT_TRUE(staging);
  const auto swept = sweep(home_);
  ASSERT_TRUE(swept);
  EXPECT_EQ(*swept, 0);
  EXPECT_TRUE(is_directory(staging->path()));
}

TEST_F(LayoutTest, sweep_and_owners_that_tidy_away_do_not_disturb_each_other) {
  ASSERT_TRUE(prepare(home_));
  std::atomic<int> at_work = 3;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 100; ++n) {
          const auto staging = Staging::create(home_);
          EXPECT_TRUE(staging) << staging.error().message;
          EXPECT_TRUE(make_directories(staging->path() / "files/bin"));
          EXPECT_TRUE(create_file(staging->path() / "files/bin/nvcc", "bytes"));
        }
        --at_work;
      });
    }
    threads.emplace_back([&] {
      while (at_work > 0) {
        const auto swept = sweep(home_);
        EXPECT_TRUE(swept) << swept.error().message;
      }
    });
  }
  EXPECT_TRUE(list_directory(home_.staging())->empty());
}

TEST_F(LayoutTest, sweep_removes_what_a_killed_process_left_behind) {
  ASSERT_TRUE(prepare(home_));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto staging = Staging::create(home_);
    if (staging) {
      static_cast<void>(create_file(staging->path() / "half", "x"));
    }
    ::_exit(staging ? 0 : 1); // no destructor runs, as with SIGKILL
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(list_directory(home_.staging())->size(), 1U);
  const auto swept = sweep(home_);
  ASSERT_TRUE(swept);
  EXPECT_EQ(*swept, 1);
  EXPECT_TRUE(list_directory(home_.staging())->empty());
}

TEST_F(LayoutTest, sweep_removes_a_folder_whose_maker_died_before_it_had_a_lock) {
  ASSERT_TRUE(prepare(home_));
  ASSERT_TRUE(make_directories(home_.staging() / "orphan/deep"));
  const auto swept = sweep(home_);
  ASSERT_TRUE(swept);
  EXPECT_EQ(*swept, 1);
}

} // namespace
} // namespace cukit::store
