// Killed at any moment, or without power from one moment to the next: what is visible is whole, and
// the next run succeeds.
#include "lab.hpp"
#include "support/power_loss.hpp"

#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

namespace cukit::test {
namespace {

using ::testing::IsEmpty;

/// 20 in every test run; `cmd/dev test crash` asks for a thousand, and then no step is left out.
int rounds() {
  const char* text = std::getenv("CUKIT_CRASH_ROUNDS");
  return text == nullptr ? 20 : std::atoi(text);
}

TEST(Crash, a_run_that_is_killed_anywhere_is_simply_run_again) {
  const Lab lab(2'000'000);
  const auto& playground = lab.playground;
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(lab.up().exit_code, 0);
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
      Running running(playground, {"up", "--no-validate", lab.manifest.string()});
      std::this_thread::sleep_for(
          std::chrono::microseconds(engine() % static_cast<unsigned>(whole.count() + 1000)));
      running.signal(SIGKILL);
      running.wait(std::chrono::seconds(10));
    }
    const auto round_text = "round " + std::to_string(round);
    lab.expect_whole(round_text);
    lab.expect_rerun(round_text);
    ASSERT_FALSE(::testing::Test::HasFailure()) << round_text;
  }
}

/// Runs `up` again and again, killed at step 1, 1 + stride, ..., each time after `prepare`.
template <typename Prepare>
int kill_at_steps(Lab& lab, Faults& faults, int stride, const Prepare& prepare) {
  for (int step = 1;; step += stride) {
    faults.forget();
    prepare();
    faults.kill_at(step);
    const auto killed = lab.up();
    const auto where = faults.report();
    faults.forget();
    if (killed.exit_code == 0 && where.empty()) {
      return step;
    }
    EXPECT_EQ(killed.signal, SIGKILL) << killed.errors;
    lab.expect_whole(where);
    lab.expect_rerun(where);
    if (::testing::Test::HasFailure()) {
      return step;
    }
  }
}

TEST(Crash, row20_killed_at_any_step_of_a_first_run) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  Faults faults(lab.playground);
  const int steps =
      kill_at_steps(lab, faults, rounds() >= 1000 ? 1 : 29, [&] { lab.begin_anew(); });
  EXPECT_GT(steps, 200); // fewer would mean that the library no longer sees what the program does
}

TEST(Crash, row20_killed_at_any_step_of_a_run_that_moves_a_name_on) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  Faults faults(lab.playground);
  const int steps = kill_at_steps(lab, faults, rounds() >= 1000 ? 1 : 13, [&] {
    lab.begin_anew();
    lab.playground.write("demo.yaml", Lab::text());
    ASSERT_EQ(lab.up().exit_code, 0);
    lab.playground.write("demo.yaml", Lab::text("consumers: [triton]\n"));
  });
  EXPECT_GT(steps, 20);
}

/// The rule of the README in the words of files: nothing that is visible leads to nothing.
void expect_no_hollow_entry(const Lab& lab, const std::string& after) {
  const auto has_bytes = [&](const fs::path& file) {
    std::error_code none;
    EXPECT_GT(fs::file_size(file, none), 0U) << after << ": " << file;
    EXPECT_FALSE(none) << after << ": " << file;
  };
  const auto home = lab.playground.home();
  for (const auto& key : lab.playground.names_in("store")) {
    has_bytes(home / "store" / key / "index");
  }
  for (const auto& id : lab.playground.names_in("trees")) {
    has_bytes(home / "trees" / id / ".cukit/content");
    has_bytes(home / "trees" / id / ".cukit/files");
  }
  for (const auto& name : lab.playground.names_in("names")) {
    const auto current = home / "names" / name / "current";
    if (path_exists(current)) {
      has_bytes(current / "tree");
      has_bytes(current / "lock");
      const auto id = read_file(current / "tree", 1000).value_or("");
      EXPECT_TRUE(folder_exists(home / "trees" / id.substr(0, id.find('\n')))) << after;
    }
  }
}

std::string kept_text(PowerLoss::Kept kept) {
  switch (kept) {
  case PowerLoss::Kept::everything:
    return "everything";
  case PowerLoss::Kept::nothing:
    return "nothing unsynced";
  case PowerLoss::Kept::names:
    return "names without content";
  case PowerLoss::Kept::in_order:
    return "changes in order";
  case PowerLoss::Kept::random:
    return "any changes";
  }
  return "";
}

constexpr std::array k_ways{PowerLoss::Kept::nothing, PowerLoss::Kept::names,
                            PowerLoss::Kept::in_order, PowerLoss::Kept::random};

/// One run whose changes are written down. `prepare` makes the state before it.
PowerLoss recorded_run(Lab& lab, const std::vector<std::string>& options) {
  Faults faults(lab.playground);
  PowerLoss disk(lab.playground.path());
  faults.keep_journal();
  const auto done = lab.up(options);
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  disk.read_journal(faults.journal_file());
  return disk;
}

TEST(Crash, row21_the_model_of_a_disk_knows_all_that_a_run_does) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  const auto disk = recorded_run(lab, {});
  const auto lock = lab.lock_text();
  const auto stored = lab.playground.names_in("store");
  disk.rebuild(disk.steps(), PowerLoss::Kept::everything, 0);
  EXPECT_EQ(lab.lock_text(), lock);
  EXPECT_EQ(lab.playground.names_in("store"), stored);
  lab.expect_whole("everything kept");
  lab.server.forget();
  EXPECT_THAT(lab.up().output, ::testing::HasSubstr("nothing to do"));
  EXPECT_EQ(lab.server.requests(), 0);
}

void lose_power_at_steps(Lab& lab, const PowerLoss& disk, std::size_t cuts) {
  const auto stride = std::max<std::size_t>(1, disk.steps() / cuts);
  unsigned seed = 0;
  for (std::size_t cut = disk.steps() + 1; cut-- > 0;) {
    if ((disk.steps() - cut) % stride != 0) {
      continue;
    }
    const auto kept = k_ways[seed++ % k_ways.size()];
    disk.rebuild(cut, kept, seed);
    const auto after = "power lost after step " + std::to_string(cut) + " of " +
                       std::to_string(disk.steps()) + ", kept: " + kept_text(kept);
    expect_no_hollow_entry(lab, after);
    lab.expect_whole(after);
    lab.expect_rerun(after);
    ASSERT_FALSE(::testing::Test::HasFailure()) << after;
  }
}

TEST(Crash, row21_power_lost_at_any_step_of_a_first_run) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  const auto disk = recorded_run(lab, {"--durability", "full"});
  lose_power_at_steps(lab, disk, rounds() >= 1000 ? 4000 : 40);
}

TEST(Crash, row21_power_lost_at_any_step_of_a_run_that_moves_a_name_on) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  ASSERT_EQ(lab.up().exit_code, 0);
  lab.playground.write("demo.yaml", Lab::text("consumers: [triton]\n"));
  const auto disk = recorded_run(lab, {"--durability", "full"});
  lose_power_at_steps(lab, disk, rounds() >= 1000 ? 4000 : 30);
}

TEST(Crash, row21_without_durability_a_hollow_tree_is_at_least_noticed) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  const auto disk = recorded_run(lab, {"--durability", "normal"});
  disk.rebuild(disk.steps(), PowerLoss::Kept::names, 1);
  ASSERT_THAT(lab.playground.names_in("trees"), ::testing::SizeIs(1));
  const auto verified = lab.playground.run({"verify"});
  EXPECT_THAT(verified.exit_code, ::testing::AnyOf(1, 5)) << verified.output << verified.errors;
  EXPECT_THAT(verified.errors + verified.output,
              ::testing::AnyOf(::testing::HasSubstr("next:"), ::testing::HasSubstr("cukit up")));
}

} // namespace
} // namespace cukit::test
