// The variables in the forms that other programs read, read by those programs: what comes out is
// what `cukit run` would have set, whatever stands in the tree's path.
#include "base/child.hpp"
#include "base/strings.hpp"
#include "exports/shells.hpp"
#include "exports/variable_files.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::exports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Values = std::map<std::string, std::string>;

class VariableFiles : public ::testing::Test {
protected:
  VariableFiles() {
    caller.set("PATH", "/usr/bin:/bin");
    caller.set("HOME", folder.path().string());
    caller.set("CUDA_HOME", "/usr/local/cuda \"quoted\" $HOME!");
    caller.set("CCACHE_EXTRAFILES", "/mine");
    caller.set("XLA_FLAGS", "--xla_dump_to=/d");
    caller.set("XDG_CACHE_HOME", folder.path() / "cache of a user");
  }
  /// A toolkit in a folder of that name.
  [[nodiscard]] ToolkitEnvironment toolkit(const std::string& name) const {
    const auto tree = folder.path() / name;
    for (const auto* file : {"bin/nvcc", "bin/ptxas", "include/cuda.h", ".cukit/input"}) {
      EXPECT_TRUE(make_directories((tree / file).parent_path()));
      EXPECT_TRUE(write_file_atomic(tree / file, "x"));
    }
    return environment({.tree = tree,
                        .id = "0123abcd",
                        .gpus = {GpuTarget::parse("sm_90").value()},
                        .named = {"jax"},
                        .jit = folder.path() / "builder/jit/0123abcd"},
                       knowledge::Knowledge::embedded())
        .value();
  }
  [[nodiscard]] std::string text(const ToolkitEnvironment& environment, VariableFile file) const {
    const auto result = write_variable_file(environment, file, caller, "CUDA 13.0.3");
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result.value_or("");
  }
  std::string put(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(write_file_atomic(folder.path() / name, bytes));
    return (folder.path() / name).string();
  }
  /// The environment at the end of a program that is run with the caller's; `out` is where it has
  /// to write NAME=VALUE, each with a NUL behind.
  [[nodiscard]] Values run(std::vector<std::string> command, const Environment& with) const {
    const auto done = run_command({.arguments = std::move(command),
                                   .environment = with,
                                   .time_limit = std::chrono::seconds(30)},
                                  {});
    EXPECT_TRUE(done && done->exit_code == 0) << (done ? done->output + done->errors : "");
    EXPECT_EQ(done ? done->errors : "", "");
    Values result;
    const auto bytes = read_file(folder.path() / "out", 1U << 20U).value_or("");
    for (const auto item : split(bytes, '\0')) {
      const auto equals = item.find('=');
      if (equals != std::string_view::npos) {
        result.emplace(item.substr(0, equals), item.substr(equals + 1));
      }
    }
    return result;
  }
  [[nodiscard]] std::string print_all() const {
    return "\n/usr/bin/env -0 >'" + (folder.path() / "out").string() + "'\n";
  }
  [[nodiscard]] Values in_shell(const std::string& shell, const std::string& script) const {
    return run({shell, put("script", script + print_all())}, caller);
  }
  static std::string program(const std::string& name) {
    return Environment::of_this_process().find_program(name);
  }
  /// As `cukit run` has it, JIT caches being below the user's own cache folder.
  [[nodiscard]] Values expected(const ToolkitEnvironment& toolkit, bool own_caches = true) const {
    const auto after = apply(toolkit, caller);
    Values result;
    for (const auto& variable : toolkit.set) {
      auto value = after.values().at(variable.name);
      const auto& jit = toolkit.jit.string();
      if (own_caches && value.starts_with(jit)) {
        value = *caller.get("XDG_CACHE_HOME") + "/cukit/jit/0123abcd" + value.substr(jit.size());
      }
      result.emplace(variable.name, value);
    }
    return result;
  }
  static void expect_all(const Values& wanted, const Values& seen, bool any_name = true) {
    for (const auto& [name, value] : wanted) {
      if (any_name || name.find('-') == std::string::npos) {
        const auto found = seen.find(name);
        EXPECT_EQ(found == seen.end() ? "(unset)" : found->second, value) << name;
      }
    }
  }

  static constexpr const char* k_hostile = "it's a \"tree\" $HOME `id` \\n [x] {y} %h 5% #! ;&*";
  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "cukit-files-");
  Environment caller;
};

TEST_F(VariableFiles, csh_evaluates_what_cukit_run_sets_and_takes_it_back) {
  const auto tcsh = program("tcsh");
  if (tcsh.empty()) {
    GTEST_SKIP() << "tcsh is not installed";
  }
  const auto first = toolkit(k_hostile);
  const auto second = toolkit("another");
  const auto evaluate = [&](const std::string& lines, const Environment& with) {
    put("lines", lines);
    const auto script = put("script", "cd '" + folder.path().string() +
                                          "'\neval \"`cat lines`\"\n/usr/bin/env -0 >out\n");
    auto seen = run({tcsh, "-f", script}, with);
    for (const auto* made_up : {"PWD", "SHLVL", "OSTYPE", "HOSTTYPE", "VENDOR", "MACHTYPE",
                                "LOGNAME", "USER", "GROUP", "HOST", "_"}) {
      seen.erase(made_up);
    }
    return seen;
  };
  const auto as_environment = [](const Values& values) {
    Environment result;
    for (const auto& [name, value] : values) {
      result.set(name, value);
    }
    return result;
  };
  const auto before = evaluate("", caller);
  const auto on = evaluate(print(first, Shell::csh, caller), caller);
  expect_all(expected(first, false), on, false);
  auto now = as_environment(on);
  EXPECT_EQ(evaluate(print(first, Shell::csh, now), now), on) << "twice is once";
  now = as_environment(evaluate(print(second, Shell::csh, now), now));
  EXPECT_EQ(now.get("CUDA_HOME"), second.tree.string());
  EXPECT_EQ(evaluate(print_unset(Shell::csh, now), now), before);
}

TEST_F(VariableFiles, a_profile_gives_each_user_a_cache_and_can_be_taken_back) {
  const auto tree = toolkit(k_hostile);
  const auto lines = text(tree, VariableFile::profile);
  EXPECT_THAT(lines, Not(HasSubstr("builder"))) << "nothing of whoever wrote it";
  for (const auto* name : {"dash", "bash", "zsh"}) {
    const auto shell = program(name);
    if (!shell.empty()) {
      expect_all(expected(tree), in_shell(shell, "set -eu\n" + lines + lines), false);
      auto back = in_shell(shell, lines + print_unset(Shell::sh, caller));
      EXPECT_EQ(back["CUDA_HOME"], caller.get("CUDA_HOME"));
      EXPECT_EQ(back.count("TORCH_CUDA_ARCH_LIST"), 0U);
    }
  }
}

TEST_F(VariableFiles, lines_of_a_Dockerfile_read_as_a_shells_words_do) {
  // BuildKit's words differ from a shell's between double quotes in the backtick alone
  const auto tree = toolkit("it's a \"tree\" $HOME \\n [x] {y} #");
  std::string script = "set -eu\n";
  const auto lines = text(tree, VariableFile::docker);
  for (const auto line : split(lines, '\n')) {
    const auto equals = line.find('=');
    if (line.starts_with("ENV ") && line.substr(0, equals).find('-') == std::string_view::npos) {
      script += "export " + std::string(line.substr(4)) + "\n";
    }
  }
  auto wanted = expected(tree);
  std::erase_if(wanted,
                [&](const auto& one) { return one.second.find("/jit/") != std::string::npos; });
  expect_all(wanted, in_shell("/bin/sh", script), false);
  EXPECT_THAT(lines, AllOf(StartsWith("# CUDA 13.0.3\n"), Not(HasSubstr("/jit/"))));
  EXPECT_THAT(text(toolkit("`"), VariableFile::docker), HasSubstr("/`/bin:${PATH:-/usr/local/"));
}

TEST_F(VariableFiles, an_envrc_is_left_with_its_folder) {
  const auto tree = toolkit(k_hostile);
  const auto lines = text(tree, VariableFile::direnv);
  expect_all(expected(tree, false), in_shell("/bin/bash", "set -eu\n" + lines), false);
  const auto direnv = program("direnv");
  if (direnv.empty()) {
    GTEST_SKIP() << "direnv is not installed; bash alone has read it";
  }
  ASSERT_TRUE(make_directories(folder.path() / "work"));
  put("work/.envrc", lines);
  caller.set("XDG_DATA_HOME", folder.path() / "data");
  caller.set("DIRENV_LOG_FORMAT", "");
  const auto work = (folder.path() / "work").string();
  ASSERT_EQ(
      run_command({.arguments = {direnv, "allow", work}, .environment = caller}, {})->exit_code, 0);
  expect_all(expected(tree, false),
             run({direnv, "exec", work, "/bin/sh", "-c", print_all()}, caller), false);
}

TEST_F(VariableFiles, a_modulefile_is_loaded_and_unloaded_by_environment_modules) {
  const auto tclsh = program("tclsh");
  std::string modulecmd;
  for (const auto* place :
       {"/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/lib/aarch64-linux-gnu/modulecmd.tcl",
        "/usr/share/Modules/libexec/modulecmd.tcl"}) {
    modulecmd = path_exists(place) ? place : modulecmd;
  }
  if (tclsh.empty() || modulecmd.empty()) {
    GTEST_SKIP() << "Environment Modules are not installed";
  }
  const auto tree = toolkit(k_hostile);
  ASSERT_TRUE(make_directories(folder.path() / "m"));
  put("m/cukit", text(tree, VariableFile::modules));
  caller.set("MODULEPATH", folder.path() / "m");
  const auto module = [&](const std::string& what) {
    return "eval \"$('" + tclsh + "' '" + modulecmd + "' sh " + what + " cukit)\"\n";
  };
  auto wanted = expected(tree);
  // Modules part what they join by their own rules: a caller's value stays in front or behind
  expect_all(wanted, in_shell("/bin/bash", module("load")));
  auto back = in_shell("/bin/bash", module("load") + module("unload"));
  EXPECT_EQ(back["CUDA_HOME"], caller.get("CUDA_HOME"));
  EXPECT_EQ(back["PATH"], caller.get("PATH"));
  EXPECT_EQ(back["XLA_FLAGS"], caller.get("XLA_FLAGS"));
  EXPECT_EQ(back.count("TORCH_CUDA_ARCH_LIST"), 0U);
}

TEST_F(VariableFiles, a_modulefile_of_lmod_is_a_program_of_lua) {
  auto lua = program("lua");
  lua = lua.empty() ? program("lua5.4") : lua;
  if (lua.empty()) {
    GTEST_SKIP() << "lua is not installed";
  }
  const auto tree = toolkit(k_hostile);
  const auto file = put("m.lua", text(tree, VariableFile::lmod));
  // what Lmod promises of these functions
  const auto stub = put("stub.lua", R"lua(
local values, out = {}, io.open(arg[2], "w")
local function old(name) return values[name] or os.getenv(name) end
function whatis() end
function help() end
function pushenv(name, value) values[name] = value end
function prepend_path(name, value, mark)
  values[name] = old(name) and value .. mark .. old(name) or value
end
function append_path(name, value, mark)
  values[name] = old(name) and old(name) .. mark .. value or value
end
dofile(arg[1])
for name, value in pairs(values) do out:write(name, "=", value, "\0") end
out:close()
)lua");
  expect_all(expected(tree), run({lua, stub, file, (folder.path() / "out").string()}, caller));
}

TEST_F(VariableFiles, a_drop_in_for_a_service_is_taken_by_systemd_without_a_complaint) {
  const auto lines = text(toolkit("it's \"5%\" $HOME \\n"), VariableFile::systemd);
  EXPECT_THAT(lines, HasSubstr("\nEnvironment=\"CUDA_HOME=" + folder.path().string() +
                               "/it's \\\"5%%\\\" $HOME \\\\n\"\n"));
  EXPECT_THAT(lines,
              AllOf(HasSubstr("=%C/cukit/jit/0123abcd/"), HasSubstr(":/usr/bin:/sbin:/bin\"\n"),
                    Not(HasSubstr("BLACKWELL-")), Not(HasSubstr("/mine"))));
  const auto analyze = program("systemd-analyze");
  if (analyze.empty()) {
    GTEST_SKIP() << "systemd-analyze is not installed; the text alone was looked at";
  }
  const auto unit =
      put("probe.service", "[Unit]\nDescription=x\n" + lines + "ExecStart=/bin/true\n");
  const auto done = run_command({.arguments = {analyze, "verify", "--man=no", unit},
                                 .environment = Environment::of_this_process()},
                                {});
  ASSERT_TRUE(done);
  EXPECT_THAT(done->output + done->errors, Not(HasSubstr("Environment")));
  EXPECT_THAT(done->output + done->errors, Not(HasSubstr("probe.service:")));
}

TEST_F(VariableFiles, files_of_a_job_on_github_hold_one_value_a_line) {
  const auto tree = toolkit(k_hostile);
  Values seen;
  const auto lines = text(tree, VariableFile::github_env);
  for (const auto line : split(lines, '\n')) {
    seen.emplace(line.substr(0, line.find('=')), line.substr(line.find('=') + 1));
  }
  auto wanted = expected(tree, false);
  wanted.erase("PATH");
  expect_all(wanted, seen);
  EXPECT_EQ(seen.count("PATH"), 0U);
  EXPECT_EQ(text(tree, VariableFile::github_path), tree.tree.string() + "/bin\n");
}

TEST_F(VariableFiles, dotenv_holds_what_all_its_readers_take_alike_and_refuses_the_rest) {
  for (const auto* name : {"a b $HOME {x} `id` # \"q\"", "it's a tree"}) {
    const auto tree = toolkit(name);
    caller.unset("XLA_FLAGS");
    std::string lines;
    const auto all = text(tree, VariableFile::dotenv);
    for (const auto line : split(all, '\n')) { // bash has no such names
      lines += line.substr(0, line.find('=')).find('-') == std::string_view::npos
                   ? std::string(line) + "\n"
                   : std::string();
    }
    const auto script = "set -a\n. '" + put("lines", lines) + "'\n";
    expect_all(expected(tree, false), in_shell("/bin/bash", script), false);
  }
  for (const auto* name : {"back\\slash", "it's $HOME", "it's \"q\""}) {
    const auto refused = write_variable_file(toolkit(name), VariableFile::dotenv, caller, "");
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
    EXPECT_THAT(refused.error().message, HasSubstr("the value of "));
  }
}

TEST_F(VariableFiles, a_line_end_is_refused_by_every_form_that_cannot_hold_one) {
  const auto tree = toolkit("two\nlines");
  for (const auto& name : names_of_variable_files()) {
    const auto file = *parse_variable_file(name);
    const auto refused = write_variable_file(tree, file, caller, "");
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().message, HasSubstr("a line end")) << name;
  }
  EXPECT_THAT(why_no_line(tree, Shell::csh, caller), HasSubstr("a line end"));
  EXPECT_EQ(why_no_line(tree, Shell::sh, caller), "");
  caller.set("CUDA_PATH", "a\nb");
  EXPECT_THAT(why_no_line(toolkit("t"), Shell::csh, caller), HasSubstr("CUDA_PATH"))
      << "it could not be given back";
}

} // namespace
} // namespace cukit::exports
