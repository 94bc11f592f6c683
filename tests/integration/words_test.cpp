// What a word of the command line stands for: names are names, a path says so, a manifest is its
// own lock, whatever lies in the working folder and whoever else has the name.
#include "store_fixture.hpp"

#include <fstream>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Words : public StoreRun {
protected:
  /// Brings up PROJECT/cukit.yaml, as `cukit init` of old called all of them, for those GPUs.
  std::string up_project(const std::string& project, const std::string& nvcc,
                         const std::string& gpu) {
    if (!folder_exists(playground.path() / project)) {
      EXPECT_TRUE(make_directories(playground.path() / project));
    }
    playground.write(project + "/cukit.yaml", "cukit: 1\nname: cukit\ngpus: [" + gpu +
                                                  "]\ntoolkit: {nvcc: \"==" + nvcc + "\"}\n");
    return run({"up", "--no-validate", project + "/cukit.yaml"});
  }
  [[nodiscard]] std::string path_of(const std::string& word) const {
    const auto done = playground.run({"env", word, "--shell", "plain"});
    EXPECT_EQ(done.exit_code, 0) << word << done.errors;
    const auto begin = done.output.find("CUDA_HOME=");
    return begin == std::string::npos
               ? done.output
               : done.output.substr(begin + 10, done.output.find('\n', begin) - begin - 10);
  }
};

TEST_F(Words, are_names_whatever_lies_in_the_working_folder) {
  up("demo", "13.0.188");
  playground.write("evil.yaml", manifest_of("evil", "13.0.187"));
  run({"build", "evil.yaml", "--prefix", (playground.path() / "demo").string()}); // demo/.cukit
  ASSERT_TRUE(path_exists(playground.path() / "demo/.cukit/content"));
  fs::copy(playground.path() / "demo/.cukit", playground.path() / ".cukit");
  const auto mine = tree("demo").string();

  EXPECT_EQ(path_of("demo"), mine);
  EXPECT_THAT(run({"run", "demo", "--", "/bin/sh", "-c", "echo $CUDA_HOME"}), HasSubstr(mine));
  EXPECT_THAT(run({"verify", "demo"}), HasSubstr("as they were built"));
  EXPECT_THAT(run({"why", "bin/nvcc", "--json"}), HasSubstr("13.0.188")); // ./.cukit is no toolkit
  EXPECT_THAT(run({"why", "bin/nvcc", "--of", "demo"}), HasSubstr("13.0.188"));
  EXPECT_THAT(run({"diff", "demo", "demo.yaml"}), HasSubstr("the same toolkit"));

  const auto folder = fs::canonical(playground.path() / "demo").string();
  for (const std::string& path : {std::string("./demo"), std::string("demo/"), folder}) {
    EXPECT_EQ(path_of(path), folder) << path;
  }
  run({"gc", "--name", "demo"});
  EXPECT_THAT(run({"env", "demo"}, 2), AllOf(HasSubstr("no toolkit `demo`"), HasSubstr("./demo")));
  run({"verify", "demo"}, 2);
  run({"run", "demo", "--", "true"}, 125);
}

TEST_F(Words, of_an_id_are_its_beginning_and_one_of_two_is_not_chosen) {
  up("demo", "13.0.188");
  const auto id = tree("demo").filename().string();
  EXPECT_EQ(path_of(id), tree("demo").string());
  EXPECT_EQ(path_of(id.substr(0, 6)), tree("demo").string());
  run({"env", id.substr(0, 5)}, 2);
  ASSERT_TRUE(make_directories(playground.home() / "trees" / (id.substr(0, 20) + "0")));
  EXPECT_THAT(run({"env", id.substr(0, 6)}, 2), HasSubstr("2 trees"));
}

TEST_F(Words, that_name_a_manifest_mean_its_own_lock_though_another_project_took_the_name) {
  EXPECT_THAT(up_project("a", "13.0.187", "sm_90"), Not(HasSubstr("the name cukit")));
  const auto of_a = tree("cukit").string();
  EXPECT_THAT(up_project("b", "13.0.188", "sm_120"),
              AllOf(HasSubstr("the name cukit was that of"), HasSubstr("a/cukit.yaml"),
                    HasSubstr("b/cukit.yaml"), HasSubstr("`name:`")));
  const auto of_b = tree("cukit").string();
  ASSERT_NE(of_a, of_b);

  EXPECT_THAT(run({"list", "--json"}),
              AllOf(HasSubstr((playground.path() / "a/cukit.yaml").string()),
                    HasSubstr((playground.path() / "b/cukit.yaml").string())));

  EXPECT_EQ(path_of("a/cukit.yaml"), of_a);
  EXPECT_EQ(path_of("./b/cukit.yaml"), of_b);
  EXPECT_EQ(path_of("a/cukit.lock.yaml"), of_a);
  EXPECT_THAT(run({"env", "a/cukit.yaml"}), AllOf(HasSubstr("9.0"), Not(HasSubstr("12.0"))));
  EXPECT_THAT(run({"run", "a/cukit.yaml", "--", "/bin/sh", "-c", "echo $CUDA_HOME"}),
              HasSubstr(of_a));
  ASSERT_EQ(::chmod(of_a.c_str(), 0755), 0);
  std::ofstream(of_a + "/extra") << "x";
  EXPECT_THAT(run({"verify", "a/cukit.yaml"}, 1), HasSubstr("extra"));
  run({"verify", "b/cukit.yaml"});
  fs::remove(of_a + "/extra");

  EXPECT_THAT(run({"switch", "a/cukit.yaml"}), HasSubstr(of_a));
  EXPECT_EQ(tree("cukit").string(), of_a);
  EXPECT_THAT(run({"up", "--no-validate", "a/cukit.yaml"}), HasSubstr("nothing to do"));
  EXPECT_THAT(run({"up", "--no-validate", "b/cukit.yaml"}),
              HasSubstr("the name cukit was that of"));
}

TEST_F(Words, that_name_a_manifest_without_its_toolkit_say_what_is_missing) {
  up("demo", "13.0.188");
  playground.write("new.yaml", manifest_of("demo", "13.0.187")); // the name of the other
  EXPECT_THAT(run({"env", "new.yaml"}, 2), AllOf(HasSubstr("no lock yet"), HasSubstr("cukit up")));
  run({"lock", "new.yaml"});
  EXPECT_THAT(run({"env", "new.yaml"}, 2), AllOf(HasSubstr("not built"), HasSubstr("cukit up")));
  run({"switch", "new.yaml"}, 1);
  run({"build", "new.yaml"});
  const auto built = playground.run({"env", "new.yaml"});
  EXPECT_EQ(built.exit_code, 0);
  EXPECT_THAT(built.errors, HasSubstr("no `cukit up`"));
  for (const char* nothing : {"nowhere.yaml", "nowhere.lock.yaml", "./nowhere", "/no/where"}) {
    EXPECT_THAT(run({"env", nothing}, 2), HasSubstr(std::string("there is no ") + nothing));
    EXPECT_THAT(run({"verify", nothing}, 2), HasSubstr(nothing));
  }
  EXPECT_THAT(run({"env", "."}, 2), HasSubstr("no tree that cukit built"));
  EXPECT_THAT(run({"diff", "nowhere.yaml", "demo"}, 2), HasSubstr("nowhere.yaml"));
}

TEST_F(Words, that_name_a_manifest_which_changed_after_its_lock_say_so) {
  up("demo", "13.0.188");
  EXPECT_THAT(playground.run({"env", "demo.yaml"}).errors, IsEmpty());
  playground.write("demo.yaml", manifest_of("demo", "13.0.187"));
  const auto done = playground.run({"env", "demo.yaml"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.output, HasSubstr(tree("demo").string()));
  EXPECT_THAT(done.errors, AllOf(HasSubstr("changed after its lock"), HasSubstr("13.0.99")));
}

TEST_F(Words, for_a_toolkit_that_could_not_be_named_are_refused_before_anybody_is_asked) {
  server.forget();
  for (const std::size_t size : {65U, 200U, 201U}) {
    playground.write("long.yaml", manifest_of(std::string(size, 'n'), "13.0.188"));
    EXPECT_THAT(run({"up", "--no-validate", "long.yaml"}, 2), HasSubstr("up to 64")) << size;
  }
  playground.write("suite.yaml",
                   manifest_of("suite", "13.0.188") + "validate: {suites: [everything]}\n");
  EXPECT_THAT(run({"up", "suite.yaml"}, 2), HasSubstr("no suite of kernels `everything`"));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Words, of_a_new_manifest_are_its_folders_name_where_the_file_has_the_usual_one) {
  for (const auto& [folder, name] :
       {std::pair{"my-app", "my-app"}, std::pair{"My App (2)", "My-App--2-"},
        std::pair{".hidden", "hidden"}, std::pair{"models.yaml", "models.yam"}}) {
    ASSERT_TRUE(make_directories(playground.path() / folder));
    const auto file = std::string(folder) + "/cukit.yaml";
    run({"init", "--gpu", "sm_90", "-o", file});
    const auto text = read_file(playground.path() / file, 100'000);
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("name: \"" + std::string(name) + "\"")) << folder;
  }
  run({"init", "--gpu", "sm_90", "-o", "my-app/other.yaml"});
  EXPECT_THAT(*read_file(playground.path() / "my-app/other.yaml", 100'000),
              HasSubstr("name: \"other\""));
}

TEST_F(Words, for_a_prefix_never_mean_a_tree_of_the_store) {
  up("demo", "13.0.188");
  playground.write("other.yaml", manifest_of("other", "13.0.187"));
  const auto mine = tree("demo");
  fs::create_directory_symlink(playground.home(), playground.path() / "alias");
  const auto refused = [&](const fs::path& prefix) {
    EXPECT_THAT(run({"build", "other.yaml", "--prefix", prefix.string()}, 2),
                HasSubstr("keeps its own trees"));
  };
  refused(mine);
  refused(playground.path() / "alias/trees" / mine.filename());
  refused(playground.home() / "trees/new");
  refused(playground.home());
  playground.environment.set("CUKIT_HOME", (playground.path() / "another").string());
  refused(mine);
  playground.environment.unset("CUKIT_HOME"); // then the prefix has a store of its own for a while
  refused(mine);
  playground.environment.set("CUKIT_HOME", playground.home().string());
  run({"verify"});
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1));
}

} // namespace
} // namespace cukit::test
