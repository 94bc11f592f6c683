// A toolkit for an environment by its activation alone: what is set, what is taken back, and that
// no byte of anything else changes.
#include "base/child.hpp"
#include "support/fake_venv.hpp"
#include "venv/wire.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::venv {
namespace {

using test::contents_of;
using test::FakeVenv;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A toolkit with an nvcc, and with variables of each kind; its name is hard to quote.
exports::ToolkitEnvironment toolkit(const FakeVenv& venv) {
  const auto tree = venv.root.path() / "it's a $tree";
  venv.root.put("/it's a $tree/bin/nvcc", "#!/bin/sh\n", 0755);
  using exports::Joins;
  return {.tree = tree,
          .jit = {},
          .set = {{.name = "CUDA_HOME", .value = tree.string(), .joins = Joins::nothing},
                  {.name = "PATH", .value = (tree / "bin").string(), .joins = Joins::before},
                  {.name = "DEMO_FLAGS", .value = "-x 'y'!", .joins = Joins::after}},
          .reach = {},
          .pins_host_compiler = false};
}

/// What a shell prints of these lines; nothing when it is not installed.
std::optional<std::string>
run_shell(const std::string& shell, const std::string& script,
          std::map<std::string, std::string, std::less<>> variables = {}) {
  variables.emplace("PATH", "/usr/bin:/bin");
  variables.emplace("HOME", "/nonexistent");
  Command command;
  command.environment = Environment(std::move(variables));
  if (command.environment.find_program(shell).empty()) {
    return std::nullopt;
  }
  command.arguments = {shell};
  if (shell == "tcsh") {
    command.arguments.emplace_back("-f");
  }
  command.input = script;
  const auto done = run_command(command);
  EXPECT_TRUE(done);
  EXPECT_THAT(done->errors, ::testing::AnyOf("", HasSubstr("toolkit of this environment is gone")))
      << shell;
  return done->output;
}

struct Dialect {
  const char* shell;
  const char* source;
};

class VenvWire : public ::testing::Test {
protected:
  VenvWire() : environment(toolkit(venv)), place(*find_place(venv.path())) {}
  FakeVenv venv;
  exports::ToolkitEnvironment environment;
  Place place;
};

class VenvShells : public VenvWire, public ::testing::WithParamInterface<Dialect> {};

TEST_P(VenvShells, activation_sets_and_deactivation_takes_everything_back) {
  const auto& [shell, source] = GetParam();
  ASSERT_TRUE(wire(place, environment, false));
  const std::string name(shell);
  const std::string show =
      "printenv CUDA_HOME\nprintenv DEMO_FLAGS\nprintenv PATH\nprintenv CUKIT_ENV_TREE\n";
  const auto activate = fmt::format("{} {}/bin/activate{}\n", source, venv.path().string(),
                                    name == "fish"   ? ".fish"
                                    : name == "tcsh" ? ".csh"
                                                     : "");
  const std::map<std::string, std::string, std::less<>> own{{"DEMO_FLAGS", "mine"}};
  const auto tree = environment.tree.string();
  const auto set = tree + "\nmine -x 'y'!\n" + tree + "/bin:" + venv.path().string() +
                   "/bin:/usr/bin:/bin\n" + tree + "\n";
  const auto active = run_shell(shell, activate + show, own);
  if (!active) {
    GTEST_SKIP() << shell << " is not installed";
  }
  EXPECT_EQ(*active, set);
  EXPECT_EQ(*run_shell(shell, activate + activate + show, own), set) << "twice is once";
  EXPECT_EQ(*run_shell(shell, activate + "deactivate\n" + show, own), "mine\n/usr/bin:/bin\n");
  ASSERT_TRUE(remove_tree(environment.tree));
  const auto gone = run_shell(shell, activate + show, own);
  EXPECT_EQ(*gone, "mine\n" + venv.path().string() + "/bin:/usr/bin:/bin\n")
      << "a toolkit that is gone sets nothing";
}

INSTANTIATE_TEST_SUITE_P(All, VenvShells,
                         ::testing::Values(Dialect{"sh", "."}, Dialect{"bash", "source"},
                                           Dialect{"zsh", "source"}, Dialect{"fish", "source"},
                                           Dialect{"tcsh", "source"}),
                         [](const auto& given) { return std::string(given.param.shell); });

TEST_F(VenvWire, twice_changes_nothing_and_unwire_gives_every_byte_back) {
  venv.put("bin/activate", venv.read("bin/activate") + "# no end of line");
  ASSERT_EQ(::chmod((venv.path() / "bin/activate").c_str(), 0640), 0);
  const auto before = contents_of(venv.path());
  ASSERT_TRUE(wire(place, environment, true));
  const auto wired = contents_of(venv.path());
  EXPECT_NE(wired, before);
  const auto again = wire(place, environment, true);
  ASSERT_TRUE(again);
  for (const auto& file : *again) {
    EXPECT_FALSE(file.changed) << file.path;
  }
  EXPECT_EQ(contents_of(venv.path()), wired);
  const auto wiring = find_wiring(place);
  ASSERT_TRUE(wiring && *wiring);
  EXPECT_EQ((*wiring)->tree, environment.tree);
  EXPECT_TRUE((*wiring)->always);
  EXPECT_TRUE((*wiring)->is_there);
  ASSERT_TRUE(unwire(place));
  EXPECT_EQ(contents_of(venv.path()), before);
  EXPECT_FALSE(find_wiring(place)->has_value());
  EXPECT_THAT(*unwire(place), Not(::testing::Contains(::testing::Field(&Written::changed, true))));
}

TEST_F(VenvWire, lines_of_others_behind_the_block_stay) {
  ASSERT_TRUE(wire(place, environment, false));
  const auto plain = FakeVenv().read("bin/activate");
  venv.put("bin/activate", venv.read("bin/activate") + "export MINE=1\n");
  ASSERT_TRUE(unwire(place));
  EXPECT_THAT(venv.read("bin/activate"), AllOf(::testing::EndsWith("export PATH\nexport MINE=1\n"),
                                               Not(HasSubstr("cukit venv"))));
}

TEST_F(VenvWire, without_activation_python_sets_all_or_none) {
  ASSERT_TRUE(wire(place, environment, true));
  const auto line = venv.read("lib/python3.11/site-packages/cukit-venv.pth");
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  const std::string script = "python3 -S -c \"import site, os; site.addsitedir('" +
                             venv.site().string() +
                             "'); print(os.environ.get('CUDA_HOME'), os.environ.get('DEMO_FLAGS'), "
                             "os.environ['PATH'])\"";
  const auto set = run_shell("sh", "command -v python3 > /dev/null || exit 0; " + script);
  if (set->empty()) {
    GTEST_SKIP() << "python3 is not installed";
  }
  const auto tree = environment.tree.string();
  EXPECT_EQ(*set, tree + " -x 'y'! " + tree + "/bin:/usr/bin:/bin\n");
  const auto without_path = run_shell("sh", "unset PATH; /usr/bin/env -u PATH /usr/bin/" + script);
  if (path_exists("/usr/bin/python3")) {
    EXPECT_EQ(*without_path, tree + " -x 'y'! " + tree + "/bin:/bin:/usr/bin\n");
  }
  EXPECT_EQ(*run_shell("sh", script, {{"CUDA_HOME", "/own"}}), "/own None /usr/bin:/bin\n");
  EXPECT_EQ(*run_shell("sh", script, {{"CUDA_PATH", "/own"}}), "None None /usr/bin:/bin\n");
  ASSERT_TRUE(remove_tree(environment.tree));
  EXPECT_EQ(*run_shell("sh", script), "None None /usr/bin:/bin\n");
}

TEST_F(VenvWire, conda_has_files_of_its_own_for_it) {
  venv.root.put("/conda/conda-meta/history", "");
  venv.root.put("/conda/lib/python3.12/site-packages/a.py", "");
  const auto conda = find_place(venv.root.path() / "conda");
  const auto before = contents_of(conda->prefix);
  ASSERT_TRUE(wire(*conda, environment, false));
  const auto scripts = conda->prefix / "etc/conda";
  const auto done = run_shell("sh", ". " + scripts.string() +
                                        "/activate.d/cukit-venv.sh; "
                                        "printenv CUDA_HOME; . " +
                                        scripts.string() +
                                        "/deactivate.d/cukit-venv.sh; printenv CUDA_HOME; "
                                        "printenv PATH");
  EXPECT_EQ(*done, environment.tree.string() + "\n/usr/bin:/bin\n");
  ASSERT_TRUE(unwire(*conda));
  auto after = contents_of(conda->prefix);
  after.erase("etc");
  after.erase("etc/conda");
  EXPECT_EQ(after, before);
}

TEST_F(VenvWire, nothing_to_hook_is_said_with_what_to_do) {
  venv.root.put("/target/numpy-2.0.dist-info/METADATA", "");
  const auto target = find_place(venv.root.path() / "target");
  for (const bool always : {false, true}) {
    const auto refused = wire(*target, environment, always);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().hint, HasSubstr("cukit run"));
  }
  venv.root.put("/usr/lib/python3.11/site-packages/a.py", "");
  const auto system = find_place(venv.root.path() / "usr");
  EXPECT_THAT(wire(*system, environment, false).error().hint, HasSubstr("--always"));
  EXPECT_TRUE(wire(*system, environment, true));
}

TEST_F(VenvWire, a_folder_that_others_use_is_not_written_to) {
  ASSERT_TRUE(make_directories(venv.root.path() / "shared"));
  ASSERT_TRUE(remove_tree(venv.site()));
  ASSERT_EQ(::symlink((venv.root.path() / "shared").c_str(), venv.site().c_str()), 0);
  const auto linked = find_place(venv.path());
  const auto before = contents_of(venv.path());
  const auto refused = wire(*linked, environment, true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("outside of this environment"));
  EXPECT_EQ(contents_of(venv.path()), before);
  EXPECT_TRUE(wire(*linked, environment, false)) << "activate is its own";
}

TEST_F(VenvWire, what_cannot_be_written_leaves_everything_as_it_was) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may write everywhere";
  }
  ASSERT_EQ(::chmod((venv.path() / "bin").c_str(), 0555), 0);
  const auto before = contents_of(venv.path());
  EXPECT_EQ(wire(place, environment, true).error().code, ErrorCode::host);
  EXPECT_EQ(contents_of(venv.path()), before);
  ASSERT_EQ(::chmod((venv.path() / "bin").c_str(), 0755), 0);
}

TEST_F(VenvWire, half_a_mark_is_no_reason_to_guess) {
  ASSERT_TRUE(wire(place, environment, false));
  auto text = venv.read("bin/activate");
  text.resize(text.rfind("# <<<"));
  venv.put("bin/activate", text);
  const auto refused = unwire(place);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("one of the two lines"));
  EXPECT_EQ(venv.read("bin/activate"), text);
}

} // namespace
} // namespace cukit::venv
