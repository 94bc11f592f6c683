// Odd homes, masks and folders: the same tree, or an error that says what to do.
#include "base/sha256.hpp"
#include "store_fixture.hpp"
#include "support/faults.hpp"

#include <fmt/format.h>

#include <sys/mount.h>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Places : public StoreRun {
protected:
  void SetUp() override { expected_ = up("demo"); }

  void expect_same_tree(const std::string& what) {
    const auto done = playground.run({"up", "--no-validate", "--json", "demo.yaml"});
    EXPECT_EQ(done.exit_code, 0) << what << ": " << done.output << done.errors;
    EXPECT_EQ(value_of(done.output, "digest"), expected_) << what;
    const auto verified = playground.run({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << what << ": " << verified.output << verified.errors;
  }
  std::string expected_;
};

/// Every path of a tree with kind, mode, size, time and content.
std::string listing(const fs::path& tree) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    struct stat info {};
    EXPECT_EQ(::lstat(entry.path().c_str(), &info), 0);
    std::string content;
    if (S_ISLNK(info.st_mode)) {
      content = fs::read_symlink(entry.path()).string();
    } else if (S_ISREG(info.st_mode)) {
      content = sha256_of_file(entry.path())->hex();
    }
    lines.push_back(fmt::format("{} {:o} {} {}.{} {}\n",
                                entry.path().lexically_relative(tree).string(), info.st_mode,
                                S_ISREG(info.st_mode) ? info.st_size : 0, info.st_mtim.tv_sec,
                                info.st_mtim.tv_nsec, content));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

TEST_F(Places, row38_any_umask_gives_the_same_tree_and_modes) {
  const auto before = listing(tree("demo"));
  for (const mode_t mask : {0000U, 0077U, 0027U}) {
    ASSERT_TRUE(remove_tree(playground.home()));
    const mode_t old = ::umask(mask);
    expect_same_tree(fmt::format("umask {:04o}", mask));
    ::umask(old);
    EXPECT_EQ(listing(tree("demo")), before) << mask;
    struct stat info {};
    ASSERT_EQ(::stat((playground.home() / "store").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0022U, 0U) << "others could write the store";
  }
}

TEST_F(Places, row38_homes_with_odd_names_give_the_same_tree) {
  for (const std::string& name : {std::string("with a space"), std::string("with\na newline"),
                                  std::string("caf\xc3\xa9 \xe6\xbc\xa2"), std::string(200, 'x'),
                                  std::string("quo'te\"s $HOME `x` \\ %s"), std::string("-rf")}) {
    playground.environment.set("CUKIT_HOME", (playground.path() / name).string());
    expect_same_tree(name);
    const auto env = playground.run({"env", "demo"});
    EXPECT_EQ(env.exit_code, 0) << env.errors;
  }
}

TEST_F(Places, row38_without_HOME_or_any_place_it_says_what_to_set) {
  playground.environment.unset("HOME");
  expect_same_tree("no HOME");
  playground.environment.unset("CUKIT_HOME");
  EXPECT_THAT(run({"list"}, 6), AllOf(HasSubstr("no home folder"), HasSubstr("CUKIT_HOME")));
}

TEST_F(Places, row38_a_relative_XDG_folder_is_ignored) {
  playground.environment.unset("CUKIT_HOME");
  playground.environment.set("XDG_DATA_HOME", "relative");
  playground.environment.set("XDG_CACHE_HOME", "./also");
  expect_same_tree("relative XDG");
  EXPECT_TRUE(folder_exists(playground.path() / ".local/share/cukit/trees"));
  EXPECT_FALSE(path_exists(playground.path() / "relative"));
  EXPECT_FALSE(path_exists(playground.path() / "also"));
}

TEST_F(Places, row38_a_home_that_cannot_be_written_is_named) {
  const auto home = playground.path() / "read-only";
  ASSERT_TRUE(make_directories(home));
  if (::geteuid() != 0 || ::mount("tmpfs", home.c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a read-only file system needs root";
  }
  playground.environment.set("CUKIT_HOME", (home / "cukit").string());
  EXPECT_THAT(run({"up", "--no-validate", "demo.yaml"}, 6),
              AllOf(HasSubstr("Read-only file system"), HasSubstr(home.string())));
  run({"list"});
  EXPECT_EQ(::umount2(home.c_str(), MNT_DETACH), 0);
}

TEST_F(Places, row38_TMPDIR_on_another_file_system_changes_nothing) {
  const fs::path other = "/dev/shm";
  struct stat here {};
  struct stat there {};
  if (::stat(other.c_str(), &there) != 0 || ::stat(playground.path().c_str(), &here) != 0 ||
      here.st_dev == there.st_dev) {
    GTEST_SKIP() << other << " is no other file system";
  }
  ASSERT_TRUE(remove_tree(playground.home()));
  playground.environment.set("TMPDIR", other.string());
  expect_same_tree("TMPDIR elsewhere");
  playground.environment.set("TMPDIR", "/nowhere");
  ASSERT_TRUE(remove_tree(playground.home()));
  expect_same_tree("TMPDIR that is not there");
}

TEST_F(Places, row39_two_homes_one_processor_or_all_and_any_date_give_the_same_bytes) {
  const auto first = listing(tree("demo"));
  ASSERT_GT(first.size(), 1000U);
  playground.environment.set("CUKIT_HOME", (playground.path() / "elsewhere/home").string());
  playground.environment.set("SOURCE_DATE_EPOCH", "1234567890");
  playground.environment.set("LC_ALL", "tr_TR.UTF-8");
  playground.environment.set("TZ", "Pacific/Kiritimati");
  Command command;
  command.arguments = {"taskset",       "-c",     "0",        CUKIT_BINARY, "up",
                       "--no-validate", "--json", "demo.yaml"};
  command.environment = playground.environment;
  command.directory = playground.path().string();
  const auto done = run_command(command);
  if (!done || done->exit_code == 127) {
    GTEST_SKIP() << "there is no taskset to take all processors but one away";
  }
  ASSERT_EQ(done->exit_code, 0) << done->errors;
  const auto ids = list_directory(playground.path() / "elsewhere/home/trees");
  ASSERT_TRUE(ids);
  ASSERT_EQ(ids->size(), 1U);
  EXPECT_EQ(listing(playground.path() / "elsewhere/home/trees" / ids->front()), first);
}

TEST_F(Places, row39_folders_that_list_their_names_in_any_order_give_the_same_bytes) {
  if (const auto why = no_faults_because(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const auto first = listing(tree("demo"));
  const auto mirror = (playground.path() / "mirror").string();
  const auto bundle = [&](const std::string& name) {
    const auto file = playground.path() / name;
    run({"bundle", "demo.yaml", "-o", file.string()});
    return sha256_of_file(file).value();
  };
  const auto bundled = bundle("first.tar");
  run({"mirror", "demo.yaml", mirror});
  const auto page = sha256_of_file(fs::path(mirror) / "index.html").value();
  playground.environment.set("CUKIT_INDEX_URL", mirror); // a folder is listed, too
  Faults faults(playground);
  for (const unsigned seed : {1U, 2U, 3U}) {
    ASSERT_TRUE(remove_tree(playground.home()));
    fs::remove(fs::path(mirror) / "index.html");
    faults.shuffle(seed);
    run({"up", "--no-validate", "demo.yaml"});
    EXPECT_EQ(listing(tree("demo")), first) << seed;
    EXPECT_EQ(bundle("again.tar"), bundled) << seed;
    run({"mirror", "demo.yaml", mirror});
    EXPECT_EQ(sha256_of_file(fs::path(mirror) / "index.html").value(), page) << seed;
    EXPECT_THAT(run({"verify"}), HasSubstr("all as they were built"));
    EXPECT_THAT(faults.report(), HasSubstr("shuffle readdir")) << "nothing was shuffled";
    faults.forget();
  }
}

} // namespace
} // namespace cukit::test
