#include "names/names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <ctime>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit::names {
namespace {

using testing::ElementsAre;

class NamesTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDirectory::create(fs::temp_directory_path(), "cukit-names-");
    ASSERT_TRUE(made);
    scratch_ = std::make_unique<TempDirectory>(std::move(*made));
    home_ = store::Home{scratch_->path(), scratch_->path() / "cache"};
    ASSERT_TRUE(store::prepare(home_));
  }
  static Generation generation(const std::string& tree) {
    return {.number = 0, .tree = tree, .lock = "lock of " + tree + "\n", .report = "r1"};
  }
  std::unique_ptr<TempDirectory> scratch_;
  store::Home home_;
};

TEST_F(NamesTest, a_name_nobody_made_has_no_generation) {
  const auto now = current(home_, "none");
  ASSERT_TRUE(now);
  EXPECT_FALSE(now->has_value());
  EXPECT_TRUE(list(home_)->empty());
}

TEST_F(NamesTest, the_first_switch_makes_generation_1) {
  const auto switched = switch_to(home_, "q", generation("aa"));
  ASSERT_TRUE(switched);
  EXPECT_TRUE(*switched);
  const auto now = *current(home_, "q");
  ASSERT_TRUE(now);
  EXPECT_EQ(now->number, 1);
  EXPECT_EQ(now->tree, "aa");
  EXPECT_EQ(now->lock, "lock of aa\n");
  EXPECT_EQ(now->report, "r1");
  EXPECT_EQ(fs::read_symlink(home_.names() / "q/current"), "gen/1");
  EXPECT_EQ(*read_file(home_.names() / "q/gen/1/tree", 10), "aa\n");
}

TEST_F(NamesTest, a_generation_cut_by_a_power_cut_is_left_out_and_mended_by_the_next_switch) {
  ASSERT_TRUE(switch_to(home_, "q", generation("aa"), store::Durability::normal));
  ASSERT_TRUE(switch_to(home_, "q", generation("bb"), store::Durability::normal));
  for (const char* file : {"tree", "lock"}) { // named before its content reached the disk
    fs::resize_file(home_.names() / "q/gen/2" / file, 0);
    EXPECT_FALSE(current(home_, "q"));
    const auto left = generations(home_, "q");
    ASSERT_TRUE(left);
    ASSERT_EQ(left->size(), 1);
    EXPECT_EQ(left->front().tree, "aa");
  }
  EXPECT_TRUE(*switch_to(home_, "q", generation("bb"), store::Durability::normal));
  EXPECT_EQ((*current(home_, "q"))->number, 3);
}

TEST_F(NamesTest, an_equal_switch_does_nothing) {
  ASSERT_TRUE(switch_to(home_, "q", generation("aa")));
  const auto again = switch_to(home_, "q", generation("aa"));
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  EXPECT_THAT(*list_directory(home_.names() / "q/gen"), ElementsAre("1"));
}

TEST_F(NamesTest, another_tree_lock_or_report_is_a_new_generation_and_the_old_ones_stay) {
  auto next = generation("aa");
  ASSERT_TRUE(*switch_to(home_, "q", next));
  next.report = "r2";
  ASSERT_TRUE(*switch_to(home_, "q", next));
  next.lock = "other\n";
  ASSERT_TRUE(*switch_to(home_, "q", next));
  next.tree = "bb";
  next.report.clear();
  ASSERT_TRUE(*switch_to(home_, "q", next));
  EXPECT_EQ((*current(home_, "q"))->number, 4);
  EXPECT_EQ((*current(home_, "q"))->report, "");
  EXPECT_THAT(*list_directory(home_.names() / "q/gen"), ElementsAre("1", "2", "3", "4"));
}

TEST_F(NamesTest, numbers_grow_past_nine) {
  for (int i = 1; i <= 11; ++i) {
    ASSERT_TRUE(switch_to(home_, "q", generation(std::to_string(i))));
  }
  EXPECT_EQ((*current(home_, "q"))->number, 11);
}

TEST_F(NamesTest, list_gives_the_names_that_point_somewhere) {
  ASSERT_TRUE(switch_to(home_, "b", generation("aa")));
  ASSERT_TRUE(switch_to(home_, "a", generation("bb")));
  ASSERT_TRUE(make_directories(home_.names() / "half/gen")); // a crash before the switch
  EXPECT_THAT(*list(home_), ElementsAre("a", "b"));
}

TEST_F(NamesTest, a_bad_name_is_a_usage_error) {
  const auto switched = switch_to(home_, "../x", generation("aa"));
  ASSERT_FALSE(switched);
  EXPECT_EQ(switched.error().code, ErrorCode::usage);
  EXPECT_FALSE(current(home_, ""));
}

TEST_F(NamesTest, a_generation_without_the_switch_leaves_the_old_one_current) {
  ASSERT_TRUE(switch_to(home_, "q", generation("aa")));
  // What a crash between the two renames leaves: generation 2 is there, `current` still names 1.
  fs::copy(home_.names() / "q/gen/1", home_.names() / "q/gen/2", fs::copy_options::recursive);
  EXPECT_EQ((*current(home_, "q"))->number, 1);
  ASSERT_TRUE(*switch_to(home_, "q", generation("bb")));
  EXPECT_EQ((*current(home_, "q"))->number, 3);
}

TEST_F(NamesTest, a_damaged_current_is_an_error_to_read_and_mended_by_a_switch) {
  ASSERT_TRUE(switch_to(home_, "q", generation("aa")));
  fs::remove(home_.names() / "q/current");
  fs::create_symlink("../../etc", home_.names() / "q/current");
  const auto now = current(home_, "q");
  ASSERT_FALSE(now);
  EXPECT_EQ(now.error().code, ErrorCode::integrity);
  ASSERT_TRUE(switch_to(home_, "q", generation("bb")));
  EXPECT_EQ((*current(home_, "q"))->tree, "bb");
}

// The child switches without end and tells each time; the kill falls wherever it happens to be
// then.
TEST_F(NamesTest, a_process_killed_at_any_moment_leaves_the_old_or_the_new_one_current) {
  ASSERT_TRUE(switch_to(home_, "q", generation("old")));
  for (int round = 1; round <= 20; ++round) {
    std::array<int, 2> told{};
    ASSERT_EQ(::pipe(told.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i) {
        static_cast<void>(switch_to(home_, "q", generation(std::to_string(i))));
        static_cast<void>(::write(told[1], "x", 1));
      }
    }
    ::close(told[1]);
    std::string bytes(1, ' ');
    for (int i = 0; i < round % 4 + 1; ++i) {
      ASSERT_EQ(::read(told[0], bytes.data(), 1), 1);
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ::close(told[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const auto now = current(home_, "q");
    ASSERT_TRUE(now) << now.error().message;
    ASSERT_TRUE(now->has_value());
    EXPECT_EQ((*now)->lock, "lock of " + (*now)->tree + "\n");
  }
  ASSERT_TRUE(store::sweep(home_));
  EXPECT_TRUE(list_directory(home_.staging())->empty());
  ASSERT_TRUE(*switch_to(home_, "q", generation("after")));
  EXPECT_EQ((*current(home_, "q"))->tree, "after");
}

TEST_F(NamesTest, switches_at_once_keep_every_generation) {
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back(
          [this, i] { EXPECT_TRUE(switch_to(home_, "q", generation(std::to_string(i)))); });
    }
  }
  EXPECT_EQ(list_directory(home_.names() / "q/gen")->size(), 4U);
  EXPECT_TRUE((*current(home_, "q")).has_value());
}

/// A generation can be made current only while its tree stands.
class GenerationsTest : public NamesTest {
protected:
  void SetUp() override {
    NamesTest::SetUp();
    for (const char* tree : {"aa", "bb", "cc"}) {
      ASSERT_TRUE(make_directories(home_.trees() / tree));
      ASSERT_TRUE(switch_to(home_, "q", generation(tree)));
    }
  }
  int now() { return (*current(home_, "q"))->number; }
};

TEST_F(GenerationsTest, come_oldest_first_with_the_time_they_were_made) {
  const auto all = generations(home_, "q");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0].number, 1);
  EXPECT_EQ((*all)[0].tree, "aa");
  EXPECT_EQ((*all)[2].tree, "cc");
  EXPECT_NEAR(static_cast<double>((*all)[2].made), static_cast<double>(std::time(nullptr)), 60.0);
  EXPECT_TRUE(generations(home_, "nobody")->empty());
}

TEST_F(GenerationsTest, switch_goes_to_a_number_and_without_one_to_the_newest) {
  const auto first = make_current(home_, "q", 1);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->from, 3);
  EXPECT_EQ(first->to.tree, "aa");
  EXPECT_EQ(now(), 1);
  EXPECT_EQ((*current(home_, "q"))->lock, "lock of aa\n");
  ASSERT_TRUE(make_current(home_, "q", 0));
  EXPECT_EQ(now(), 3);
  EXPECT_THAT(*list_directory(home_.names() / "q/gen"), ElementsAre("1", "2", "3"));
}

TEST_F(GenerationsTest, rollback_goes_one_back_until_there_is_none_before) {
  ASSERT_TRUE(roll_back(home_, "q"));
  EXPECT_EQ(now(), 2);
  ASSERT_TRUE(roll_back(home_, "q"));
  EXPECT_EQ(now(), 1);
  const auto none = roll_back(home_, "q");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::expected_no);
  EXPECT_EQ(now(), 1);
}

TEST_F(GenerationsTest, rollback_passes_over_generations_of_the_same_toolkit) {
  ASSERT_TRUE(roll_back(home_, "q")); // 3 (cc) -> 2 (bb)
  ASSERT_TRUE(*switch_to(home_, "q", generation("cc")));
  auto validated_again = generation("cc");
  validated_again.report = "r2";
  ASSERT_TRUE(*switch_to(home_, "q", validated_again));
  EXPECT_EQ(now(), 5);
  const auto back = roll_back(home_, "q"); // 4 and 3 are cc too
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->from, 5);
  EXPECT_EQ(back->to.tree, "bb");
  EXPECT_EQ(now(), 2);
  auto other_gpus = generation("bb"); // one tree, another lock: another toolkit for its users
  other_gpus.lock = "lock with other GPUs\n";
  ASSERT_TRUE(*switch_to(home_, "q", other_gpus));
  EXPECT_EQ(roll_back(home_, "q")->to.tree, "cc");
}

TEST_F(GenerationsTest, rollback_without_another_toolkit_says_so_and_leaves_the_name) {
  for (const char* report : {"r1", "r2"}) {
    auto next = generation("aa");
    next.report = report;
    ASSERT_TRUE(switch_to(home_, "alone", next));
  }
  const auto none = roll_back(home_, "alone");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::expected_no);
  EXPECT_THAT(none.error().message, testing::HasSubstr("differs"));
  EXPECT_EQ((*current(home_, "alone"))->number, 2);
}

TEST_F(GenerationsTest, rollback_passes_over_a_number_that_was_dropped) {
  ASSERT_TRUE(*drop_generation(home_, "q", 2));
  ASSERT_TRUE(roll_back(home_, "q"));
  EXPECT_EQ(now(), 1);
}

TEST_F(GenerationsTest, a_generation_whose_tree_is_gone_is_refused_and_the_name_stays) {
  ASSERT_TRUE(remove_tree(home_.trees() / "aa"));
  const auto refused = make_current(home_, "q", 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::expected_no);
  EXPECT_FALSE(make_current(home_, "q", 9));
  EXPECT_FALSE(make_current(home_, "nobody", 0));
  EXPECT_EQ(now(), 3);
}

TEST_F(GenerationsTest, the_current_one_is_never_dropped_alone) {
  EXPECT_FALSE(*drop_generation(home_, "q", 3));
  EXPECT_TRUE(*drop_generation(home_, "q", 1));
  EXPECT_THAT(*list_directory(home_.names() / "q/gen"), ElementsAre("2", "3"));
  ASSERT_TRUE(drop_name(home_, "q"));
  EXPECT_TRUE(list(home_)->empty());
  EXPECT_TRUE(list_all(home_)->empty());
  EXPECT_TRUE(list_directory(home_.staging())->empty());
}

TEST_F(GenerationsTest, a_name_without_a_switch_still_keeps_its_generations) {
  fs::remove(home_.names() / "q/current");
  EXPECT_TRUE(list(home_)->empty());
  EXPECT_THAT(*list_all(home_), ElementsAre("q"));
  EXPECT_EQ(generations(home_, "q")->size(), 3U);
}

} // namespace
} // namespace cukit::names
