// The printed lines in real shells: twice is once, `--unset` and a venv's `deactivate` restore what
// was there.
#include "base/child.hpp"
#include "base/strings.hpp"
#include "exports/shells.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::exports {
namespace {

using ::testing::HasSubstr;

class Shells : public ::testing::TestWithParam<const char*> {
protected:
  Shells() : toolkits{toolkit("it's a tree"), toolkit("another")} {
    caller.set("PATH", "/usr/bin:/bin");
    caller.set("HOME", folder.path().string());
    caller.set("CUDA_HOME", "/usr/local/cuda \"quoted\" $HOME");
    caller.set("CPATH", (folder.path() / "another/include").string());
    caller.set("CCACHE_EXTRAFILES", "/mine");
    caller.set("VIRTUAL_ENV_DISABLE_PROMPT", "1");
  }
  void SetUp() override {
    program = Environment::of_this_process().find_program(GetParam());
    if (program.empty()) {
      GTEST_SKIP() << GetParam() << " is not installed";
    }
  }
  ToolkitEnvironment toolkit(const std::string& name) const {
    const auto tree = folder.path() / name;
    for (const auto* file : {"bin/nvcc", "bin/ptxas", "include/cuda.h", ".cukit/input"}) {
      EXPECT_TRUE(make_directories((tree / file).parent_path()));
      EXPECT_TRUE(write_file_atomic(tree / file, "x"));
    }
    return environment({.tree = tree, .id = "id of " + name, .named = {"jax"}},
                       knowledge::Knowledge::embedded())
        .value();
  }
  [[nodiscard]] bool is_fish() const { return std::string_view(GetParam()) == "fish"; }
  [[nodiscard]] Shell shell() const { return is_fish() ? Shell::fish : Shell::sh; }
  [[nodiscard]] std::string lines(int which) const {
    return print(toolkits[which], shell(), caller);
  }
  [[nodiscard]] std::string unset() const { return print_unset(shell(), caller); }

  /// The variables at the end of a script, without those that the shell makes up.
  [[nodiscard]] std::map<std::string, std::string> run(const std::string& script) const {
    const auto file = folder.path() / "script";
    EXPECT_TRUE(write_file_atomic(file, (is_fish() ? "" : "set -eu\n") + script +
                                            "\n/usr/bin/env -0 >" +
                                            (folder.path() / "out").string() + "\n"));
    std::vector<std::string> arguments{program};
    if (is_fish()) {
      arguments.emplace_back("--no-config");
    }
    arguments.push_back(file.string());
    const auto done = run_command({.arguments = arguments, .environment = caller}, {});
    EXPECT_TRUE(done && done->exit_code == 0) << (done ? done->errors : "");
    EXPECT_EQ(done ? done->errors : "", "");
    std::map<std::string, std::string> result;
    const auto text = read_file(folder.path() / "out", 1U << 20U).value_or("");
    for (const auto line : split(text, '\0')) {
      const auto equals = line.find('=');
      const auto name = line.substr(0, equals);
      if (equals != std::string_view::npos && name != "_" && name != "SHLVL" && name != "PWD" &&
          name != "OLDPWD" && name != "LOGNAME" && name != "USER") {
        result.emplace(name, line.substr(equals + 1));
      }
    }
    return result;
  }
  [[nodiscard]] std::map<std::string, std::string> applied(int which) const {
    const auto after = apply(toolkits[which], caller);
    std::map<std::string, std::string> result(after.values().begin(), after.values().end());
    return result;
  }
  /// A shell changes nothing but what is exported, and the record's order of names is its own.
  static void forget_record(std::map<std::string, std::string>& variables) {
    std::erase_if(variables, [](const auto& v) { return v.first.starts_with("CUKIT_ENV_"); });
  }
  void expect_same(std::map<std::string, std::string> a, std::map<std::string, std::string> b) {
    forget_record(a);
    forget_record(b);
    EXPECT_EQ(a, b);
  }

  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "cukit-shells-");
  std::vector<ToolkitEnvironment> toolkits;
  Environment caller;
  std::string program;
};

TEST_P(Shells, evaluating_does_what_cukit_run_does) {
  expect_same(run(lines(0)), applied(0));
}

TEST_P(Shells, twice_is_once_and_the_last_toolkit_counts) {
  expect_same(run(lines(0) + lines(0)), applied(0));
  expect_same(run(lines(0) + lines(1) + lines(0) + lines(1)), applied(1));
}

TEST_P(Shells, unset_restores_what_was_there) {
  const auto before = run("");
  EXPECT_EQ(run(lines(0) + unset()), before);
  EXPECT_EQ(run(lines(0) + lines(1) + unset()), before);
  EXPECT_EQ(run(unset()), before);
}

TEST_P(Shells, a_child_shell_can_take_it_back_too) {
  const auto before = run("");
  auto here = caller;
  caller = apply(toolkits[0], caller);
  const auto after = run(unset());
  caller = here;
  EXPECT_EQ(after, before);
}

TEST_P(Shells, deactivate_of_a_venv_gives_the_variables_back) {
  if (std::string_view(GetParam()) == "dash") {
    GTEST_SKIP() << "dash cannot tell what a function does, so deactivate is left as it is";
  }
  const auto made = run_command({.arguments = {"/usr/bin/env", "python3", "-m", "venv",
                                               "--without-pip", (folder.path() / "v").string()},
                                 .environment = Environment::of_this_process()},
                                {});
  if (!made || made->exit_code != 0) {
    GTEST_SKIP() << "python3 makes no venv here";
  }
  const auto activate = folder.path() / "v/bin" / (is_fish() ? "activate.fish" : "activate");
  auto text = read_file(activate, 1U << 20U).value();
  ASSERT_TRUE(write_file_atomic(activate, text + "\n" + lines(0)));
  const auto loose = is_fish() ? std::string() : std::string("set +eu\n");
  const auto go = loose + (is_fish() ? "source " : ". ") + activate.string() + "\n";
  auto before = run(loose);
  const auto active = run(go);
  EXPECT_EQ(active.at("CUDA_HOME"), toolkits[0].tree.string());
  EXPECT_EQ(run(go + "deactivate\n"), before);
  EXPECT_EQ(run(go + go + "deactivate\n"), before);
  EXPECT_EQ(run(go + "deactivate\n" + go + "deactivate\n"), before);
  // variables that were there before the venv stay consistent with PATH
  EXPECT_EQ(run(loose + lines(1) + go + "deactivate\n"), before);
}

INSTANTIATE_TEST_SUITE_P(all, Shells, ::testing::Values("dash", "bash", "zsh", "fish"),
                         [](const auto& one) { return std::string(one.param); });

} // namespace
} // namespace cukit::exports
