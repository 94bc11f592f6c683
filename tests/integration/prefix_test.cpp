// The switch of a prefix: the old tree or the new one, whole, at every moment; nothing of a
// person's is removed, and nothing is left beside it.
#include "base/temporary.hpp"
#include "lab.hpp"
#include "store_fixture.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sys/mount.h>
#include <unistd.h>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// `cmd/dev test crash` leaves no step out.
bool is_thorough() {
  const char* text = std::getenv("CUKIT_CRASH_ROUNDS");
  return text != nullptr && std::atoi(text) >= 1000;
}

class Prefix : public StoreRun {
protected:
  Prefix() {
    playground.write("old.yaml", manifest_of("old", "13.0.187"));
    playground.write("new.yaml", manifest_of("new", "13.0.188"));
    run({"lock", "old.yaml"});
    run({"lock", "new.yaml"});
  }
  [[nodiscard]] fs::path opt() const { return playground.path() / "opt"; }
  [[nodiscard]] fs::path prefix() const { return opt() / "cuda"; }
  [[nodiscard]] Finished bring(const std::string& which) const {
    return playground.run({"up", "--no-validate", "--frozen", "--durability", "normal", "--prefix",
                           prefix().string(), which + ".yaml"});
  }
  void expect_brought(const std::string& which) const {
    const auto done = bring(which);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    expect_whole(which == "old" ? "13.0.98" : "13.0.99", which);
    EXPECT_THAT(list_directory(opt()).value(), ElementsAre("cuda"));
  }
  void expect_whole(const std::string& release, const std::string& after) const {
    const auto tree = assemble::open_tree(prefix());
    ASSERT_TRUE(tree) << after;
    EXPECT_EQ(tree->release.text(), release) << after;
    EXPECT_THAT(assemble::verify(*tree, {}).value(), IsEmpty()) << after;
  }
  /// Replaces old by new, killed at step 1, 1 + stride, ...; `begin` makes the state before.
  template <typename Begin, typename Check>
  int kill_at_steps(Faults& faults, int stride, const Begin& begin, const Check& check) {
    for (int step = 1;; step += stride) {
      faults.forget();
      begin();
      faults.kill_at(step);
      const auto killed = bring("new");
      const auto where = faults.report();
      faults.forget();
      if (killed.exit_code == 0 && where.empty()) {
        return step;
      }
      check(where);
      expect_brought("new");
      if (HasFailure()) {
        ADD_FAILURE() << where;
        return step;
      }
    }
  }
};

TEST_F(Prefix, is_replaced_by_another_tree_and_nothing_is_left_beside_it) {
  expect_brought("old");
  expect_brought("new");
  EXPECT_THAT(bring("new").output, HasSubstr("nothing to do"));
  expect_brought("old");
}

TEST_F(Prefix, row20_killed_at_any_step_is_the_old_tree_or_the_new_one) {
  CUKIT_NEEDS_FAULTS()
  Faults faults(playground);
  run({"build", "old.yaml"});
  run({"build", "new.yaml"});
  const int steps = kill_at_steps(
      faults, is_thorough() ? 1 : 13,
      [&] {
        ASSERT_TRUE(remove_tree(opt()));
        ASSERT_EQ(bring("old").exit_code, 0);
      },
      [&](const std::string& where) {
        const auto tree = assemble::open_tree(prefix());
        ASSERT_TRUE(tree) << where;
        expect_whole(tree->release.text(), where);
      });
  EXPECT_GT(steps, 40);
}

TEST_F(Prefix, row20_a_file_system_without_an_exchange_ends_with_the_next_run) {
  CUKIT_NEEDS_FAULTS()
  Faults faults(playground);
  run({"build", "old.yaml"});
  run({"build", "new.yaml"});
  int switches = 0;
  for (int step = 1;; ++step) {
    ASSERT_TRUE(remove_tree(opt()));
    faults.forget();
    ASSERT_EQ(bring("old").exit_code, 0);
    // The first rename onto the prefix is the exchange; the n-th after it does not happen.
    faults.fail(fmt::format("rename:1:EINVAL:/opt/cuda,rename:{}:EIO:/opt/", step + 1));
    const auto stopped = bring("new");
    const auto where = faults.report();
    faults.forget();
    ASSERT_THAT(where, HasSubstr("rename 1"));
    if (stopped.exit_code == 0) {
      expect_whole("13.0.99", where);
      break;
    }
    ++switches;
    expect_brought("new");
    ASSERT_FALSE(HasFailure()) << where;
  }
  EXPECT_GE(switches, 2);
}

TEST_F(Prefix, row36_a_lower_layer_of_overlay_is_replaced_and_a_kill_is_made_good) {
  CUKIT_NEEDS_FAULTS()
  const auto disk = playground.path() / "disk";
  ASSERT_TRUE(make_directories(disk));
  ASSERT_EQ(bring("old").exit_code, 0);
  if (::geteuid() != 0 || ::mount("tmpfs", disk.c_str(), "tmpfs", 0, nullptr) != 0) {
    GTEST_SKIP() << "mounting needs root";
  }
  for (const char* name : {"lower", "upper", "work"}) {
    ASSERT_TRUE(make_directories(disk / name));
  }
  fs::copy(prefix(), disk / "lower/cuda",
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  ASSERT_TRUE(remove_tree(opt()));
  run({"build", "new.yaml"});
  const auto options =
      fmt::format("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work", disk.string());
  ASSERT_TRUE(make_directories(opt()));
  const auto mount = [&] {
    return ::mount("overlay", opt().c_str(), "overlay", 0, options.c_str()) == 0;
  };
  if (!mount()) {
    ::umount2(disk.c_str(), MNT_DETACH);
    GTEST_SKIP() << "this kernel mounts no overlay here";
  }
  Faults faults(playground);
  // As an image build does: a layer of its own for each run.
  const int steps = kill_at_steps(
      faults, is_thorough() ? 1 : 17,
      [&] {
        ASSERT_EQ(::umount2(opt().c_str(), 0), 0);
        for (const char* name : {"upper", "work"}) {
          ASSERT_TRUE(remove_tree(disk / name));
          ASSERT_TRUE(make_directories(disk / name));
        }
        ASSERT_TRUE(mount());
        ASSERT_TRUE(path_exists(prefix() / ".cukit/content"));
      },
      [](const std::string&) {});
  EXPECT_GT(steps, 100);
  EXPECT_EQ(::umount2(opt().c_str(), MNT_DETACH), 0);
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST_F(Prefix, with_a_persons_files_stays_and_they_are_named) {
  expect_brought("old");
  const auto mine = prefix() / "include/mine.h";
  ASSERT_TRUE(create_file(mine, "mine"));
  ASSERT_TRUE(make_directories(prefix() / "extras/notes"));
  ASSERT_TRUE(create_file(prefix() / ".cukit/notes", "mine"));
  for (const auto* which : {"new", "old"}) {
    const auto refused = bring(which);
    EXPECT_EQ(refused.exit_code, 6) << refused.errors;
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("include/mine.h"), HasSubstr("extras/"),
                                      HasSubstr(".cukit/notes"), HasSubstr("next:")));
    EXPECT_EQ(read_file(mine, 100).value(), "mine");
    EXPECT_THAT(list_directory(opt()).value(), ElementsAre("cuda"));
  }
  for (const auto* name : {"include/mine.h", "extras", ".cukit/notes"}) {
    ASSERT_TRUE(remove_tree(prefix() / name));
  }
  expect_brought("new");
}

TEST_F(Prefix, that_is_damaged_is_made_again_and_that_is_said) {
  expect_brought("new");
  const auto tool = prefix() / "bin/nvcc";
  fs::permissions(tool, fs::perms::owner_write, fs::perm_options::add);
  ASSERT_TRUE(write_file_atomic(tool, "changed", 0555));
  const auto done = bring("new");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("bin/nvcc"));
  expect_whole("13.0.99", "made again");
}

TEST_F(Prefix, in_a_store_or_on_a_persons_folder_is_refused) {
  up("named");
  const auto named = tree("named");
  const auto refused =
      playground.run({"up", "--no-validate", "--prefix", named.string(), "old.yaml"});
  EXPECT_EQ(refused.exit_code, 2) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("keeps its own trees in"));
  run({"verify"});
  ASSERT_TRUE(make_directories(prefix()));
  ASSERT_TRUE(create_file(prefix() / "mine", "mine"));
  EXPECT_EQ(bring("new").exit_code, 6);
  EXPECT_EQ(read_file(prefix() / "mine", 10).value(), "mine");
}

TEST_F(Prefix, sweeps_what_killed_runs_left_and_nothing_that_is_at_work) {
  expect_brought("new");
  const std::string digits = "0123456789abcdef";
  const auto held = HeldDirectory::create(opt(), temporary::k_prefix).value();
  for (const std::string kind : {".cukit-prefix-", ".cukit-home-"}) {
    const auto name = kind + digits;
    ASSERT_TRUE(make_directories(opt() / name / "tree"));
  }
  for (const std::string kind : {"cukit-validate-", "cukit-bundle-"}) {
    const auto name = kind + digits;
    ASSERT_TRUE(make_directories(playground.path() / name));
  }
  ASSERT_EQ(bring("new").exit_code, 0);
  EXPECT_THAT(list_directory(opt()).value(),
              ::testing::UnorderedElementsAre("cuda", held.path().filename().string()));
  EXPECT_THAT(list_directory(playground.path()).value(),
              Not(::testing::Contains(HasSubstr(digits))));
}

} // namespace
} // namespace cukit::test
