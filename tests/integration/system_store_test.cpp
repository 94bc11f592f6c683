// The store of a whole machine: written by its owner with --system, used in place by everybody,
// refused when others could change it.
#include "store_fixture.hpp"

#include <ctime>
#include <map>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class SystemStore : public StoreRun {
protected:
  void SetUp() override {
    system_ = playground.path() / "machine";
    playground.environment.set("CUKIT_SYSTEM_HOME", system_.string());
    up("demo", "13.0.188", {"--system"});
  }
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const {
    return list_directory(system_ / folder).value_or(std::vector<std::string>{});
  }
  /// Every path with mode, size and times: what a write would change.
  [[nodiscard]] std::map<std::string, std::string> photograph() const {
    std::map<std::string, std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(system_)) {
      struct stat info {};
      EXPECT_EQ(::lstat(entry.path().c_str(), &info), 0);
      paths[entry.path().string()] = fmt::format("{:o} {} {}.{}", info.st_mode, info.st_size,
                                                 info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    }
    return paths;
  }
  fs::path system_;
};

TEST_F(SystemStore, is_filled_with_the_flag_and_leaves_the_private_home_alone) {
  EXPECT_THAT(names_in("trees"), SizeIs(1));
  EXPECT_THAT(names_in("names"), ::testing::ElementsAre("demo"));
  EXPECT_FALSE(path_exists(playground.home()));
  EXPECT_THAT(run({"list", "--system"}), HasSubstr(system_.string()));
  run({"verify", "--system"});
}

TEST_F(SystemStore, a_tree_of_it_is_used_in_place) {
  const auto before = photograph();
  server.forget();
  up("demo", "13.0.188");
  EXPECT_EQ(server.requests(), 0);
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  EXPECT_THAT(playground.names_in("store"), IsEmpty());
  EXPECT_THAT(playground.names_in("names"), ::testing::ElementsAre("demo"));
  EXPECT_THAT(run({"env", "demo"}), HasSubstr((system_ / "trees").string()));
  EXPECT_THAT(run({"list"}), HasSubstr((system_ / "trees").string()));
  EXPECT_THAT(run({"up", "--no-validate", "demo.yaml"}), HasSubstr("nothing to do"));
  run({"verify", "demo"});
  run({"gc", "--name", "demo"});
  EXPECT_EQ(photograph(), before);
}

TEST_F(SystemStore, a_name_of_it_serves_where_there_is_no_own_one) {
  EXPECT_THAT(run({"env", "demo"}), AllOf(HasSubstr((system_ / "trees").string()),
                                          HasSubstr((playground.home() / "cache").string())));
}

TEST_F(SystemStore, its_entries_serve_a_private_tree) {
  run({"gc", "--system", "--name", "demo", "--dry-run"});
  ASSERT_TRUE(remove_tree(system_ / "trees" / names_in("trees").front()));
  const auto before = photograph();
  server.forget();
  up("demo", "13.0.188");
  EXPECT_EQ(server.requests(), 0);
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1));
  EXPECT_THAT(playground.names_in("store"), IsEmpty());
  EXPECT_EQ(photograph(), before);
}

TEST_F(SystemStore, what_it_lacks_goes_into_the_private_store) {
  const auto before = photograph();
  up("mine", "13.0.187");
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1));
  EXPECT_EQ(photograph(), before);
}

TEST_F(SystemStore, one_that_others_can_write_is_refused) {
  for (const unsigned mode : {0775U, 0757U, 0777U}) {
    ASSERT_EQ(::chmod(system_.c_str(), mode), 0);
    EXPECT_THAT(run({"list"}, 6), AllOf(HasSubstr("not safe to use"), HasSubstr("chmod go-w"),
                                        HasSubstr("CUKIT_SYSTEM_HOME=none")));
    run({"up", "--no-validate", "--system", "demo.yaml"}, 6);
  }
  ASSERT_EQ(::chmod(system_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod((system_ / "trees").c_str(), 0777), 0);
  run({"list"}, 6);
  playground.environment.set("CUKIT_SYSTEM_HOME", "none");
  run({"list"});
  run({"list", "--system"}, 2);
}

TEST_F(SystemStore, a_tree_or_a_name_of_it_that_others_can_change_is_refused) {
  const auto tree = system_ / "trees" / names_in("trees").front();
  const auto expect_refused = [&](const fs::path& path) {
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"env", "demo"}, {"run", "demo", "--", "/bin/true"}, {"env", tree.string()}}) {
      const bool is_name = path.string().find("/names/") != std::string::npos;
      if (is_name && command.back() == tree.string()) {
        EXPECT_THAT(run(command), HasSubstr("CUDA_HOME")); // no name was asked for
        continue;
      }
      EXPECT_THAT(run(command, command.front() == "run" ? 125 : 6),
                  AllOf(HasSubstr("not safe to use"), HasSubstr(path.string()),
                        HasSubstr("CUKIT_SYSTEM_HOME=none")));
    }
  };
  for (const auto& path :
       {tree, tree / "bin", tree / "bin/nvcc", tree / ".cukit", tree / ".cukit/input",
        system_ / "names/demo", system_ / "names/demo/gen", system_ / "names/demo/gen/1",
        system_ / "names/demo/gen/1/tree"}) {
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    for (const unsigned bits : {0002U, 0020U}) {
      ASSERT_EQ(::chmod(path.c_str(), info.st_mode | bits), 0);
      expect_refused(path);
    }
    ASSERT_EQ(::chmod(path.c_str(), info.st_mode), 0);
    if (::chown(path.c_str(), 12345, 12345) == 0) { // needs root
      expect_refused(path);
      ASSERT_EQ(::chown(path.c_str(), info.st_uid, info.st_gid), 0);
    }
    run({"env", "demo"});
  }
}

TEST_F(SystemStore, what_others_can_change_goes_into_no_private_tree) {
  const auto manifest = playground.write("demo.yaml", manifest_of("demo", "13.0.188")).string();
  const auto tree = system_ / "trees" / names_in("trees").front();
  ASSERT_EQ(::chmod((tree / "bin/nvcc").c_str(), 0777), 0);
  EXPECT_THAT(run({"up", "--no-validate", manifest}, 6), HasSubstr("not safe to use"));
  ASSERT_TRUE(remove_tree(tree));
  const auto entry = system_ / "store" / names_in("store").front();
  ASSERT_EQ(::chmod((entry / "index").c_str(), 0666), 0);
  EXPECT_THAT(run({"up", "--no-validate", manifest}, 6), HasSubstr((entry / "index").string()));
  playground.environment.set("CUKIT_SYSTEM_HOME", "none");
  run({"up", "--no-validate", manifest});
}

TEST_F(SystemStore, one_that_another_user_owns_is_refused) {
  if (::chown(system_.c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "giving a folder away needs root";
  }
  EXPECT_THAT(run({"list"}, 6), HasSubstr("user 12345 owns it"));
}

TEST_F(SystemStore, somebody_else_uses_it_and_changes_nothing) {
  const auto before = photograph();
  const auto as_nobody = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                         "--clear-groups", CUKIT_BINARY});
    return run_command({.arguments = arguments,
                        .environment = playground.environment,
                        .directory = playground.path().string()})
        .value();
  };
  if (::geteuid() != 0 || as_nobody({"--version"}).exit_code != 0) {
    GTEST_SKIP() << "becoming somebody else needs root, setpriv and a program that all may run";
  }
  ASSERT_TRUE(make_directories(playground.home()));
  ASSERT_EQ(::chown(playground.home().c_str(), 65534, 65534), 0);
  server.forget();
  const auto done = as_nobody({"up", "--no-validate", "--locked", "demo.yaml"});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(server.requests(), 0);
  for (const auto& command : {std::vector<std::string>{"gc", "--system"},
                              {"gc", "--system", "--dry-run"},
                              {"switch", "--system", "demo"},
                              {"verify", "--system", "--repair"}}) {
    const auto refused = as_nobody(command);
    EXPECT_THAT(refused.exit_code, ::testing::AnyOf(0, 6)) << command.front();
    if (command.front() == "gc") {
      EXPECT_EQ(refused.exit_code, 6);
      EXPECT_THAT(refused.errors, HasSubstr("its owner alone writes it"));
    }
  }
  EXPECT_EQ(photograph(), before);
}

TEST_F(SystemStore, its_owner_collects_it) {
  run({"gc", "--system", "--name", "demo"});
  EXPECT_THAT(names_in("trees"), IsEmpty());
  EXPECT_THAT(names_in("store"), IsEmpty());
  EXPECT_THAT(run({"list", "--system"}), Not(HasSubstr("demo")));
}

} // namespace
} // namespace cukit::test
