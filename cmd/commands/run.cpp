// `cukit run` and `cukit shell`: a program, or the user's shell, with a toolkit's variables.
#include "base/start_failure.hpp"
#include "base/strings.hpp"
#include "cli.hpp"
#include "commands/env_toolkit.hpp"
#include "signals.hpp"
#include "store/hand_on.hpp"
#include "ui/output.hpp"

#include <cerrno>
#include <pwd.h>
#include <unistd.h>

namespace cukit::cmd {

namespace {

struct RunOptions {
  std::string toolkit;
  std::vector<std::string> command;
};

// `cukit run`: the child's code; cukit's own failures are 125, a program that cannot be executed
// 126, one that is not found 127.
constexpr int k_own_failure = 125;
constexpr int k_not_executable = 126;
constexpr int k_not_found = 127;

int become(const Environment& environment, const std::vector<std::string>& command,
           Invocation& invocation) {
  std::string program = command.front();
  if (program.find('/') == std::string::npos) {
    const auto own = fs::path(environment.get("CUDA_HOME").value_or("")) / "bin" / program;
    program = environment.find_program(program);
    if (program != own && is_on_noexec(own)) { // else another toolkit's would run in its place
      report(invocation, start_error(EACCES, own));
      return k_not_executable;
    }
  }
  if (program.empty() || !path_exists(program)) {
    report(invocation, Error{.code = ErrorCode::host,
                             .message = fmt::format("`{}` is not found", command.front())});
    return k_not_found;
  }
  std::vector<std::string> arguments = command;
  auto lines = environment.lines();
  std::vector<char*> argument_pointers;
  std::vector<char*> environment_pointers;
  for (auto& argument : arguments) {
    argument_pointers.push_back(argument.data());
  }
  for (auto& line : lines) {
    environment_pointers.push_back(line.data());
  }
  argument_pointers.push_back(nullptr);
  environment_pointers.push_back(nullptr);
  restore_signals();
  ::execve(program.c_str(), argument_pointers.data(), environment_pointers.data());
  report(invocation, start_error(errno, program));
  return k_not_executable;
}

int become_with(const ToolkitVariables& variables, const std::vector<std::string>& command,
                Invocation& invocation) {
  if (const auto held = store::hand_on_hold(variables.tree.path);
      !held) { // else gc could take the tree away
    report(invocation, held.error());
    return k_own_failure;
  }
  say_notes(invocation, variables.notes);
  say_notes(invocation, variables.notes_on_caller);
  return become(exports::apply(variables.environment, invocation.environment), command, invocation);
}

int run_run(Invocation& invocation, const RunOptions& options) {
  const bool is_named = options.toolkit != "--"; // as command_line.cpp has it
  const auto variables =
      toolkit_variables(invocation, {.toolkit = is_named ? options.toolkit : std::string()});
  if (!variables) {
    report(invocation, variables.error());
    return k_own_failure;
  }
  auto command = options.command;
  if (command.front() == "--") {
    command.erase(command.begin());
  }
  if (command.empty()) {
    report(invocation, Error{.code = ErrorCode::usage, .message = "there is no command to run"});
    return k_own_failure;
  }
  return become_with(*variables, command, invocation);
}

/// The shell of whoever asks: SHELL, else the one of the account.
std::string users_shell(const Environment& environment) {
  if (const auto shell = environment.get("SHELL")) {
    return *shell;
  }
  const auto* account = ::getpwuid(::getuid()); // no other thread runs
  const std::string shell =
      account == nullptr || account->pw_shell == nullptr ? "" : account->pw_shell;
  return shell.empty() ? "/bin/sh" : shell;
}

int run_shell(Invocation& invocation, const std::string& toolkit) {
  const auto variables = toolkit_variables(invocation, {.toolkit = toolkit});
  if (!variables) {
    report(invocation, variables.error());
    return k_own_failure;
  }
  const auto shell = users_shell(invocation.environment);
  if (!invocation.options.quiet) {
    ui::say(fmt::format("{} with CUDA {}; `exit` leaves it\n", printable(shell),
                        variables->tree.release.text()));
  }
  return become_with(*variables, {shell}, invocation);
}

} // namespace

void register_run(Commands& commands) {
  auto options = std::make_shared<RunOptions>();
  auto* app =
      commands.add("run", "Run a program with a toolkit's variables",
                   [options](Invocation& invocation) { return run_run(invocation, *options); });
  app->add_option("TOOLKIT", options->toolkit,
                  "Name, manifest, path or id of a tree; `run -- COMMAND` takes that of cukit.yaml "
                  "here or above, else the only one")
      ->required();
  app->add_option("COMMAND", options->command,
                  "The program and its arguments: everything behind TOOLKIT")
      ->required();
}

void register_shell(Commands& commands) {
  auto toolkit = std::make_shared<std::string>();
  auto* app =
      commands.add("shell", "Start your shell with a toolkit's variables",
                   [toolkit](Invocation& invocation) { return run_shell(invocation, *toolkit); });
  app->add_option("TOOLKIT", *toolkit,
                  "Name, manifest, path or id of a tree; default: of cukit.yaml here or above, "
                  "else the only one");
}

} // namespace cukit::cmd
