// Whatever stands in the place of a file or folder that cukit keeps: every command ends, says which
// path it is, leaves everything outside of the home as it was, and the home can be mended.
#include "barriers.hpp"
#include "store_fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Photograph = std::map<std::string, std::string>;

Photograph photograph(const fs::path& folder) {
  Photograph result;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat info {};
    EXPECT_EQ(::lstat(entry.path().c_str(), &info), 0);
    result[entry.path().string()] =
        fmt::format("{:o} {}", info.st_mode,
                    S_ISREG(info.st_mode) ? read_file(entry.path(), 1U << 20U).value_or("?") : "");
  }
  return result;
}

class HostileState : public StoreRun {
protected:
  void SetUp() override {
    outside_ = playground.path() / "outside";
    fs::create_directories(outside_ / "folder/gen/1");
    fs::create_directories(outside_ / "folder/inner");
    put_text(outside_ / "file", "precious\n");
    put_text(outside_ / "folder/inner/file", "precious too\n");
    put_text(outside_ / "folder/.lock", "");
    up("demo", "13.0.187");
    up("demo", "13.0.188");
    up("other", "13.0.187");
    pristine_ = playground.path() / "pristine";
    fs::rename(playground.home(), pristine_);
    lock_ = read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value_or("");
    before_ = photograph(outside_);
  }
  /// The home as the commands of SetUp left it.
  void begin_anew() const {
    ASSERT_TRUE(remove_tree(playground.home()));
    Command copy{.arguments = {"/bin/cp", "-a", pristine_.string(), playground.home().string()}};
    ASSERT_EQ(run_command(copy)->exit_code, 0);
    ASSERT_TRUE(remove_tree(playground.path() / "demo.lock.yaml"));
    playground.write("demo.lock.yaml", lock_);
  }
  Finished ended( // NOLINT(modernize-use-nodiscard)
      const std::vector<std::string>& arguments, const std::string& after) const {
    auto done = playground.run(arguments);
    const auto where =
        after + ": " + ::testing::PrintToString(arguments) + "\n" + done.output + done.errors;
    EXPECT_FALSE(done.timed_out) << where;
    EXPECT_EQ(done.signal, 0) << where;
    EXPECT_THAT(done.exit_code, ::testing::AnyOf(0, 1, 2, 4, 5, 6, 125)) << where;
    EXPECT_THAT(done.output + done.errors, Not(HasSubstr("\x1b"))) << where;
    EXPECT_EQ(photograph(outside_), before_) << where;
    return done;
  }
  /// Of how many barriers one is taken; each place begins with another. CUKIT_TEST_PAIRS=all takes
  /// many minutes, `few` is for programs with sanitizers.
  static std::size_t barriers_for_one() {
    const auto* wish = std::getenv("CUKIT_TEST_PAIRS");
    const std::string_view pairs = wish == nullptr ? "" : wish;
    return pairs == "all" ? 1 : pairs == "few" ? barriers().size() : 3;
  }
  /// Puts barriers in the place of `what` in the home and uses the home.
  void expect_harmless(const fs::path& what) {
    auto turn = what.string().size();
    for (const auto& barrier : barriers()) {
      if (++turn % barriers_for_one() != 0) {
        continue;
      }
      if (what.is_absolute() && barrier.name == std::string_view("a link to nothing")) {
        continue; // beside the manifest a link is its owner's: the lock goes where it leads
      }
      begin_anew();
      const auto at = place_of(what);
      ASSERT_TRUE(remove_tree(at));
      std::error_code error;
      fs::create_directories(at.parent_path(), error);
      fs::permissions(at.parent_path(), fs::perms::owner_write, fs::perm_options::add, error);
      if (!barrier.put(at, outside_)) {
        continue;
      }
      const auto after = fmt::format("{} is {}", what.string(), barrier.name);
      use(after);
      const auto removed = remove_tree(playground.home());
      ASSERT_TRUE(removed) << after << ": " << removed.error().message;
    }
  }
  void use(const std::string& after) const {
    const auto manifest = (playground.path() / "demo.yaml").string();
    const std::vector<std::vector<std::string>> commands{{"list"},
                                                         {"env", "demo"},
                                                         {"verify"},
                                                         {"du"},
                                                         {"gc", "--dry-run"},
                                                         {"up", "--no-validate", manifest},
                                                         {"rollback", "demo"},
                                                         {"gc", "--keep", "1"},
                                                         {"verify", "--repair"},
                                                         {"up", "--no-validate", manifest},
                                                         {"env", "other"}};
    for (const auto& command : commands) {
      const auto done = ended(command, after);
      if (done.exit_code > 2) { // else a name or a tree that is not there
        EXPECT_THAT(done.output + done.errors, HasSubstr(playground.path().string()))
            << after << ": " << ::testing::PrintToString(command);
      }
    }
  }
  /// The names of ids and keys are not known beforehand: KEY and TREE stand for the first.
  [[nodiscard]] fs::path place_of(const fs::path& what) const {
    if (what.is_absolute()) {
      return what;
    }
    fs::path result = playground.home();
    for (const auto& part : what) {
      const auto names = part == "FIRST"
                             ? list_directory(result).value_or(std::vector<std::string>{})
                             : std::vector<std::string>{part.string()};
      result /= names.empty() ? "none" : names.front();
    }
    return result;
  }
  fs::path outside_;
  fs::path pristine_;
  std::string lock_;
  Photograph before_;
};

class HostilePlace : public HostileState, public ::testing::WithParamInterface<const char*> {};

TEST_P(HostilePlace, harms_nothing_outside_and_keeps_no_command_from_ending) {
  expect_harmless(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Home, HostilePlace,
    ::testing::Values("version", "store", "trees", "names", "reports", "staging", "locks", "logs",
                      "cache", "cache/downloads", "store/FIRST", "store/FIRST/index",
                      "store/FIRST/files", "trees/FIRST", "trees/FIRST/.cukit",
                      "trees/FIRST/.cukit/input", "trees/FIRST/.cukit/files",
                      "trees/FIRST/.cukit/content", "trees/FIRST/bin", "names/demo",
                      "names/demo/gen", "names/demo/gen/1", "names/demo/gen/2",
                      "names/demo/gen/2/tree", "names/demo/gen/2/lock", "names/demo/gen/2/report",
                      "names/demo/current", "names/third", "locks/staging", "locks/staging-sweep",
                      "locks/name-demo", "logs/runs.jsonl", "staging/left", "staging/left/.lock",
                      "cache/jit/FIRST"));

TEST_F(HostileState, beside_the_manifest_keeps_no_command_from_ending) {
  expect_harmless(playground.path() / "demo.lock.yaml");
}

TEST_F(HostileState, in_the_place_of_a_download_is_removed_and_fetched_again) {
  // What the store lacks is downloaded: everything.
  const std::string key = " sha256: sha256:";
  const auto digest = lock_.substr(lock_.find(key) + key.size(), 64);
  for (const auto* suffix : {"", ".part", ".part.json"}) {
    for (const auto& barrier : barriers()) {
      ASSERT_TRUE(remove_tree(playground.home()));
      playground.write("demo.lock.yaml", lock_);
      fs::create_directories(playground.home() / "cache/downloads");
      if (!barrier.put(playground.home() / "cache/downloads" / (digest + suffix), outside_)) {
        continue;
      }
      const auto after = fmt::format("the download{} is {}", suffix, barrier.name);
      EXPECT_EQ(ended({"up", "--no-validate", "demo.yaml"}, after).exit_code, 0) << after;
    }
  }
}

TEST_F(HostileState, a_damaged_generation_is_named_and_the_others_are_listed) {
  begin_anew();
  const auto file = playground.home() / "names/demo/gen/1/tree";
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0644), 0);
  EXPECT_THAT(run({"list"}, 6), AllOf(HasSubstr(file.string() + " is a pipe"), HasSubstr("other"),
                                      HasSubstr("verify --repair")));
  EXPECT_THAT(run({"gc"}, 6), HasSubstr(file.string())); // what it needs cannot be told
  EXPECT_THAT(run({"verify"}, 1), HasSubstr("generation 1 of demo"));
  EXPECT_THAT(run({"verify", "--repair"}), HasSubstr("generation 1 of demo: removed"));
  run({"list"});
  run({"gc"});
}

TEST_F(HostileState, rubbish_in_staging_goes_with_the_next_up) {
  begin_anew();
  const auto staging = playground.home() / "staging";
  fs::create_directory_symlink(outside_ / "folder", staging / "link");
  ASSERT_EQ(::mkfifo((staging / "pipe").c_str(), 0644), 0);
  ASSERT_TRUE(put_deep_folders(staging / "deep"));
  fs::create_directories(staging / "closed/inner");
  fs::permissions(staging / "closed/inner", fs::perms::none);
  fs::create_directories(staging / "odd/.lock");
  ended({"up", "--no-validate", "demo.yaml"}, "rubbish in staging");
  EXPECT_THAT(playground.names_in("staging"), ::testing::IsEmpty());
}

TEST_F(HostileState, rubbish_that_is_no_folder_is_collected) {
  begin_anew();
  const auto staging = playground.home() / "staging";
  fs::create_directory_symlink(outside_ / "folder", staging / "link");
  ASSERT_EQ(::mkfifo((staging / "pipe").c_str(), 0644), 0);
  put_text(staging / "file", "a file");
  EXPECT_THAT(run({"gc", "--staging-age", "0s"}), HasSubstr((staging / "file").string()));
  EXPECT_EQ(photograph(outside_), before_);
  EXPECT_THAT(playground.names_in("staging"), ::testing::IsEmpty());
}

TEST_F(HostileState, in_the_place_of_a_stored_file_goes_into_no_tree) {
  for (const auto& barrier : barriers()) {
    begin_anew();
    const auto entry = place_of("store/FIRST");
    fs::path file;
    for (const auto& one : fs::recursive_directory_iterator(entry / "files")) {
      file = one.is_regular_file() && one.file_size() > 0 ? one.path() : file;
    }
    ASSERT_TRUE(remove_tree(playground.home() / "trees"));
    ASSERT_TRUE(remove_tree(file));
    if (!barrier.put(file, outside_)) {
      continue;
    }
    const auto after = fmt::format("a stored file is {}", barrier.name);
    for (const auto* manifest : {"demo.yaml", "other.yaml"}) {
      const auto done = ended({"up", "--no-validate", manifest}, after);
      if (done.exit_code != 0) { // the other release has another file
        EXPECT_THAT(done.exit_code, ::testing::AnyOf(5, 6)) << after;
        EXPECT_THAT(done.errors, HasSubstr(file.string())) << after;
      }
    }
    ended({"verify", "--repair"}, after);
    EXPECT_EQ(ended({"verify"}, after).exit_code, 0) << after;
    EXPECT_EQ(ended({"up", "--no-validate", "demo.yaml"}, after).exit_code, 0) << after;
    EXPECT_EQ(ended({"up", "--no-validate", "other.yaml"}, after).exit_code, 0) << after;
    ASSERT_TRUE(remove_tree(playground.home()));
  }
}

TEST_F(HostileState, a_report_folder_that_is_gone_is_made_again) {
  begin_anew();
  ASSERT_TRUE(remove_tree(playground.home() / "reports"));
  ASSERT_TRUE(remove_tree(playground.home() / "trees"));
  EXPECT_EQ(ended({"up", "--no-validate", "demo.yaml"}, "no reports/").exit_code, 0);
}

TEST_F(HostileState, an_edited_record_of_a_tree_is_named_and_mended) {
  begin_anew();
  const auto file = tree("demo") / ".cukit/input";
  auto text = read_file(file, 1U << 20U).value();
  const auto original = text;
  const auto at = text.find("component\tnvcc\t");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 15, "component\tnvcc\t9");
  // With a digest that fits, too: the lock of the generation knows better.
  const auto end = text.rfind("end\t");
  for (const auto& changed :
       {text, text.substr(0, end),
        text.substr(0, end) + "end\t" + sha256_of(text.substr(0, end)).hex() + "\n"}) {
    ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
    put_text(file, changed);
    EXPECT_THAT(run({"verify", "demo"}, 1), HasSubstr("record"));
    EXPECT_THAT(run({"verify"}, 1), HasSubstr("record"));
    EXPECT_THAT(run({"verify", "--repair"}), HasSubstr("repaired"));
    EXPECT_EQ(read_file(file, 1U << 20U).value(), original);
  }
}

/// A project whose folders happen to be called as cukit's are.
class ForeignHome : public HostileState {
protected:
  void SetUp() override {
    playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
    for (const auto* name : {"store/key/files", "trees/oak", "staging/work", "names/x/gen/1",
                             "reports", "locks", "cache/jit/x", "cache/downloads"}) {
      fs::create_directories(playground.home() / name);
      put_text(playground.home() / name / "mine", "mine\n");
    }
  }
};

TEST_F(ForeignHome, loses_nothing_and_gets_nothing) {
  const std::vector<std::string> versions{"none", "", "2.4.1\n", "0\n", "99\n"};
  for (const auto& version : versions) {
    if (version != "none") {
      put_text(playground.home() / "version", version);
    }
    const auto before = photograph(playground.home());
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"verify", "--repair"},
             {"gc", "--staging-age", "0s", "--download-age", "0s"},
             {"gc", "--name", "x"},
             {"up", "--no-validate", "demo.yaml"},
             {"build", "demo.yaml"},
             {"fetch", "demo.yaml"},
             {"switch", "x"},
             {"rollback", "x"},
             {"bundle", "demo.yaml", "-o", "bundle.tar"},
             {"list"},
             {"du"},
             {"env", "x"}}) {
      EXPECT_THAT(run(command, 6), HasSubstr(playground.home().string()));
      EXPECT_EQ(photograph(playground.home()), before) << ::testing::PrintToString(command);
    }
  }
}

TEST_F(ForeignHome, with_a_version_that_looks_like_ours_loses_nothing) {
  ASSERT_TRUE(remove_tree(playground.home()));
  for (const auto* name : {"store/key", "trees/oak", "staging/work"}) {
    fs::create_directories(playground.home() / name);
  }
  put_text(playground.home() / "version", "1\n");
  EXPECT_THAT(run({"verify", "--repair"}, 6), HasSubstr("no home of cukit's"));
  EXPECT_THAT(playground.names_in("trees"), ::testing::ElementsAre("oak"));
}

TEST_F(ForeignHome, an_empty_folder_and_a_disk_that_was_just_made_are_taken) {
  ASSERT_TRUE(remove_tree(playground.home()));
  fs::create_directories(playground.home() / "lost+found");
  fs::create_directories(playground.home() / "cache/downloads");
  up("demo");
  EXPECT_THAT(playground.names_in("trees"), ::testing::SizeIs(1));
}

/// What a person may not read is named, and keeps nobody from the rest.
TEST_F(HostileState, what_may_not_be_read_is_named) {
  if (::geteuid() != 0 || !path_exists("/usr/bin/setpriv")) {
    GTEST_SKIP() << "acting as another user needs root and setpriv";
  }
  const auto as_nobody = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                         "--clear-groups", CUKIT_BINARY});
    return run_command({.arguments = arguments,
                        .environment = playground.environment,
                        .directory = playground.path().string(),
                        .time_limit = std::chrono::minutes(1)})
        .value();
  };
  for (const auto* what :
       {"version", "store", "trees", "names", "staging", "locks", "store/FIRST/index",
        "trees/FIRST/.cukit/input", "names/demo/gen/2/tree", "names/demo", "locks/staging"}) {
    begin_anew();
    ASSERT_EQ(
        run_command({.arguments = {"/bin/chown", "-R", "65534:65534", playground.path().string()}})
            ->exit_code,
        0);
    ASSERT_EQ(::chmod(place_of(what).c_str(), 0), 0);
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"list"}, {"verify"}, {"du"}, {"gc"}, {"up", "--no-validate", "demo.yaml"}}) {
      const auto done = as_nobody(command);
      EXPECT_FALSE(done.timed_out) << what;
      EXPECT_THAT(done.exit_code, ::testing::AnyOf(0, 1, 5, 6)) << what << done.errors;
      if (done.exit_code != 0) {
        EXPECT_THAT(done.output + done.errors, HasSubstr(playground.home().string()))
            << what << ": " << ::testing::PrintToString(command);
      }
    }
    ASSERT_TRUE(remove_tree(playground.home()));
  }
}

} // namespace
} // namespace cukit::test
