// The toolkit of a project: a cukit.yaml above the working folder serves what is given no name, and
// never what takes away. `cukit shell` and `cukit run --` beside it.
#include "base/strings.hpp"
#include "store_fixture.hpp"

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Project : public StoreRun {
protected:
  Project() {
    up("other");
    EXPECT_TRUE(make_directories(at("project/src/deep")));
    playground.write("project/cukit.yaml", manifest_of("mine", "13.0.187"));
    playground.environment.set("PATH", "/usr/bin:/bin");
    playground.environment.set("HOME", playground.path());
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return playground.path() / name; }
  [[nodiscard]] Finished in(const std::string& folder, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), CUKIT_BINARY);
    auto done = run_command({.arguments = arguments,
                             .environment = playground.environment,
                             .directory = at(folder).string(),
                             .time_limit = std::chrono::minutes(1)},
                            {});
    EXPECT_TRUE(done);
    return done ? *std::move(done) : Finished{};
  }
  /// A program that says what it got.
  std::string printer() const {
    const auto file = at("shell");
    EXPECT_TRUE(write_file_atomic(file, "#!/bin/sh\necho \"home=$CUDA_HOME\"\nexit 7\n"));
    EXPECT_EQ(::chmod(file.c_str(), 0755), 0);
    return file.string();
  }
};

TEST_F(Project, its_manifest_serves_every_command_that_is_given_no_name) {
  const auto up = in("project/src/deep", {"up", "--no-validate"});
  EXPECT_EQ(up.exit_code, 0) << up.errors;
  EXPECT_THAT(up.errors, HasSubstr("../../cukit.yaml"));
  EXPECT_TRUE(path_exists(at("project/cukit.lock.yaml")));
  const auto mine = tree("mine").string();
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"env"}, {"run", "--", "/usr/bin/env"}, {"env", "--shell", "plain"}}) {
    const auto done = in("project/src", arguments);
    EXPECT_EQ(done.exit_code, 0) << arguments.front() << done.errors;
    EXPECT_THAT(done.output, HasSubstr(mine)) << arguments.front();
    EXPECT_THAT(done.errors, HasSubstr("../cukit.yaml")) << arguments.front();
  }
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"lock", "--check"}, {"why", "nvcc"}, {"diff"}, {"diff", "other"}}) {
    const auto done = in("project/src", arguments);
    EXPECT_EQ(done.exit_code, 0) << arguments.front() << done.errors;
    EXPECT_THAT(done.output + done.errors, HasSubstr("../cukit.")) << arguments.front();
  }
  EXPECT_THAT(in("project", {"diff"}).output, HasSubstr("the same toolkit"));
  EXPECT_THAT(in("project", {"env", "other"}).output, HasSubstr(tree("other").string()));
  EXPECT_THAT(in("project", {"env", "other"}).errors, IsEmpty()) << "a name that is given counts";
  EXPECT_THAT(in("project", {"--quiet", "env"}).errors, IsEmpty());
}

TEST_F(Project, what_takes_away_or_switches_never_looks_for_it) {
  ASSERT_EQ(in("project", {"up", "--no-validate"}).exit_code, 0);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"gc", "--dry-run"}, {"switch"}, {"rollback"}, {"verify"}, {"list"}}) {
    const auto done = in("project/src", arguments);
    EXPECT_THAT(done.output + done.errors, Not(HasSubstr("cukit.yaml"))) << arguments.front();
  }
  EXPECT_EQ(in("project", {"switch"}).exit_code, 2);
}

TEST_F(Project, without_one_there_is_no_manifest_to_guess) {
  for (const auto* command : {"up", "lock"}) {
    const auto done = in(".", {command});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.errors, AllOf(HasSubstr("no manifest is named"), HasSubstr("cukit init")));
  }
  EXPECT_EQ(in(".", {"diff"}).exit_code, 2);
  playground.environment.set("HOME", at("project/src")); // the home ends the search
  EXPECT_THAT(in("project/src/deep", {"up"}).errors, HasSubstr("no manifest is named"));
}

TEST_F(Project, a_shell_has_the_variables_and_its_own_exit_code) {
  playground.environment.set("SHELL", printer());
  const auto done = in(".", {"shell"});
  EXPECT_EQ(done.exit_code, 7) << done.errors;
  EXPECT_EQ(done.output, "home=" + tree("other").string() + "\n");
  EXPECT_THAT(done.errors, HasSubstr("with CUDA 13.0"));
  ASSERT_EQ(in("project", {"up", "--no-validate"}).exit_code, 0);
  EXPECT_EQ(in("project/src", {"shell"}).output, "home=" + tree("mine").string() + "\n");
  playground.environment.set("SHELL", at("no/such/shell").string());
  const auto missing = in(".", {"shell", "other"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.errors, HasSubstr("no/such/shell` is not found"));
}

TEST_F(Project, a_form_of_a_file_names_the_tree_and_how_to_take_it_back) {
  const auto docker = in(".", {"env", "other", "--shell", "docker"});
  EXPECT_THAT(docker.output,
              AllOf(HasSubstr("# CUDA 13.0"),
                    HasSubstr("\nENV CUDA_HOME=\"" + tree("other").string() + "\"\n")));
  EXPECT_THAT(in(".", {"env", "other", "--github-path"}).output,
              HasSubstr(tree("other").string() + "/bin\n"));
  const auto unset = in(".", {"env", "--unset", "--shell", "modules"});
  EXPECT_EQ(unset.exit_code, 2);
  EXPECT_THAT(unset.errors, HasSubstr("module unload"));
  const auto unknown = in(".", {"env", "other", "--shell", "powershell"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, AllOf(HasSubstr("csh"), HasSubstr("github-env")));
}

} // namespace
} // namespace cukit::test
