// Killed at any moment, or without power from one moment to the next: what is visible is whole, and
// the next run succeeds.
#include "lab.hpp"
#include "support/power_loss.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
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
      ASSERT_TRUE(remove_tree(playground.home() / "names")); // they would lead to what is gone
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

/// One command of a mix, with what it needs to have something to do.
struct Deed {
  std::vector<std::string> command;
  bool damages = false; ///< a byte of the store is changed first
};

std::vector<Deed> deeds_of(const Lab& lab) {
  return {{{"up", "--no-validate", lab.manifest.string()}},
          {{"up", "--no-validate", "--durability", "normal", lab.manifest.string()}},
          {{"verify"}},
          {{"gc"}},
          {{"gc", "--keep", "1", "--staging-age", "0s"}},
          {{"switch", "demo"}},
          {{"rollback", "demo"}},
          {{"verify", "--repair"}, true}};
}

/// Changes one byte of a file of the store, whatever its mode says.
void damage(const Lab& lab, std::mt19937& engine) {
  const auto keys = lab.playground.names_in("store");
  std::vector<fs::path> files;
  const auto folder = lab.playground.home() / "store" / keys.at(engine() % keys.size()) / "files";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !entry.is_symlink() && entry.file_size() > 0) {
      files.push_back(entry.path());
    }
  }
  const auto file = files.at(engine() % files.size());
  const auto mode = fs::status(file).permissions();
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto byte = static_cast<char>(stream.peek() ^ 1);
  stream.seekp(0);
  stream.put(byte);
  stream.close();
  fs::permissions(file, mode);
}

/// Killed at a random change of the disk where that can be had, else after a random time.
void kill_somewhere(Lab& lab, const Deed& deed, std::mt19937& engine) {
  std::optional<Faults> faults;
  if (no_faults_because().empty()) {
    faults.emplace(lab.playground);
    // Most commands have few steps: small numbers are as likely as large ones.
    faults->kill_at(1 + static_cast<int>(engine() % (1U << (engine() % 10U))));
  }
  Running running(lab.playground, deed.command);
  if (!faults || engine() % 4 == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(engine() % 300'000));
    running.signal(SIGKILL);
  }
  EXPECT_NE(running.wait(std::chrono::minutes(1)), -1) << deed.command.front();
}

TEST(Crash, row20_any_mix_of_commands_may_be_killed) {
  Lab lab;
  const auto deeds = deeds_of(lab);
  std::mt19937 engine(4711);
  ASSERT_EQ(lab.up().exit_code, 0);
  for (int round = 0; round < rounds(); ++round) {
    const auto& deed = deeds[engine() % deeds.size()];
    lab.playground.write("demo.yaml", Lab::text(engine() % 2 == 0 ? "consumers: [triton]\n" : ""));
    if (engine() % 8 == 0) {
      ASSERT_TRUE(remove_tree(lab.playground.home()));
      ASSERT_TRUE(deed.damages == false || lab.up().exit_code == 0);
    }
    if (deed.damages) {
      damage(lab, engine);
    }
    kill_somewhere(lab, deed, engine);
    const auto after = fmt::format("round {}: {}", round, fmt::join(deed.command, " "));
    if (deed.damages) {
      const auto repaired = lab.playground.run(deed.command);
      EXPECT_EQ(repaired.exit_code, 0) << after << ": " << repaired.output << repaired.errors;
    }
    lab.expect_whole(after);
    lab.expect_rerun(after);
    ASSERT_FALSE(::testing::Test::HasFailure()) << after;
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
      kill_at_steps(lab, faults, rounds() >= 1000 ? 1 : 67, [&] { lab.begin_anew(); });
  EXPECT_GT(steps, 200); // fewer would mean that the library no longer sees what the program does
}

TEST(Crash, row20_killed_at_any_step_of_a_run_that_moves_a_name_on) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  Faults faults(lab.playground);
  const int steps = kill_at_steps(lab, faults, rounds() >= 1000 ? 1 : 17, [&] {
    lab.begin_anew();
    lab.playground.write("demo.yaml", Lab::text());
    ASSERT_EQ(lab.up().exit_code, 0);
    lab.playground.write("demo.yaml", Lab::text("consumers: [triton]\n"));
  });
  EXPECT_GT(steps, 20);
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
PowerLoss recorded(Lab& lab, const std::vector<std::string>& command) {
  Faults faults(lab.playground);
  PowerLoss disk(lab.playground.path());
  faults.keep_journal();
  const auto done = lab.playground.run(command);
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  disk.read_journal(faults.journal_file());
  return disk;
}

PowerLoss recorded_run(Lab& lab, const std::string& durability) {
  return recorded(lab, {"up", "--no-validate", "--durability", durability, lab.manifest.string()});
}

TEST(Crash, row21_the_model_of_a_disk_knows_all_that_a_run_does) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  const auto disk = recorded_run(lab, "full");
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
    lab.expect_whole(after);
    lab.expect_rerun(after);
    ASSERT_FALSE(::testing::Test::HasFailure()) << after;
  }
}

TEST(Crash, row21_power_lost_at_any_step_of_a_first_run) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  const auto disk = recorded_run(lab, "full");
  lose_power_at_steps(lab, disk, rounds() >= 1000 ? 4000 : 16);
}

TEST(Crash, row21_power_lost_at_any_step_of_a_run_that_moves_a_name_on) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  ASSERT_EQ(lab.up().exit_code, 0);
  lab.playground.write("demo.yaml", Lab::text("consumers: [triton]\n"));
  const auto disk = recorded_run(lab, "full");
  lose_power_at_steps(lab, disk, rounds() >= 1000 ? 4000 : 12);
}

/// Every generation that is there leads to a tree, not only the current one.
void expect_trees_of_all_generations(const Lab& lab, const std::string& after) {
  const auto home = lab.playground.home();
  for (const auto& number : lab.playground.names_in("names/demo/gen")) {
    const auto id = read_file(home / "names/demo/gen" / number / "tree", 1000).value_or("");
    EXPECT_TRUE(folder_exists(home / "trees" / id.substr(0, id.find('\n'))))
        << after << ": generation " << number;
  }
}

TEST(Crash, row21_power_lost_while_generations_go_or_change) {
  CUKIT_NEEDS_FAULTS()
  for (const auto& command : {std::vector<std::string>{"gc", "--keep", "1"},
                              {"rollback", "demo"},
                              {"switch", "demo", "--to", "1"}}) {
    Lab lab;
    lab.index.add_release("13.1.99", "13.1.188");
    lab.index.publish();
    ASSERT_EQ(lab.up().exit_code, 0);
    lab.playground.write("demo.yaml",
                         "cukit: 1\nname: demo\ngpus: [sm_90]\ntoolkit: {nvcc: \"13.1\"}\n");
    ASSERT_EQ(lab.up().exit_code, 0);
    ASSERT_EQ(lab.playground.names_in("trees").size(), 2U);
    const auto disk = recorded(lab, command);
    ASSERT_GT(disk.steps(), 1U) << command.front();
    const auto stride = std::max<std::size_t>(1, disk.steps() / (rounds() >= 1000 ? 1000 : 8));
    unsigned seed = 0;
    for (std::size_t cut = 0; cut <= disk.steps(); cut += stride) {
      const auto kept = k_ways[seed++ % k_ways.size()];
      disk.rebuild(cut, kept, seed);
      const auto after = fmt::format("{}, power lost after step {} of {}, kept: {}",
                                     command.front(), cut, disk.steps(), kept_text(kept));
      expect_trees_of_all_generations(lab, after);
      lab.expect_whole(after);
      lab.expect_rerun(after);
      ASSERT_FALSE(::testing::Test::HasFailure()) << after;
    }
  }
}

TEST(Crash, row21_without_durability_a_hollow_tree_is_at_least_noticed) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  const auto disk = recorded_run(lab, "normal");
  disk.rebuild(disk.steps(), PowerLoss::Kept::names, 1);
  ASSERT_THAT(lab.playground.names_in("trees"), ::testing::SizeIs(1));
  const auto verified = lab.playground.run({"verify"});
  EXPECT_THAT(verified.exit_code, ::testing::AnyOf(1, 5)) << verified.output << verified.errors;
  EXPECT_THAT(verified.errors + verified.output, ::testing::HasSubstr("--repair"));
  const auto repaired = lab.playground.run({"verify", "--repair"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.output << repaired.errors;
  lab.expect_whole("repaired");
  lab.expect_rerun("repaired");
}

} // namespace
} // namespace cukit::test
