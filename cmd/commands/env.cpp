#include "base/start_failure.hpp"
#include "cli.hpp"
#include "commands/env_toolkit.hpp"
#include "export/shells.hpp"
#include "signals.hpp"
#include "store/hand_on.hpp"
#include "ui/output.hpp"

#include <cerrno>
#include <unistd.h>

namespace cukit::cmd {

namespace {

struct EnvOptions {
  std::string toolkit;
  std::string shell = "sh";
  std::vector<std::string> gpus;
  std::vector<std::string> consumers;
  std::string venv;
  bool unset = false;
};

struct RunOptions {
  std::string toolkit;
  std::vector<std::string> command;
};

void say_notes(const Invocation& invocation, const std::vector<std::string>& notes) {
  if (!invocation.options.quiet) {
    for (const auto& note : notes) {
      ui::say(fmt::format("note: {}\n", note));
    }
  }
}

int run_env(Invocation& invocation, const EnvOptions& options) {
  const auto shell = exports::parse_shell(invocation.options.json ? "json" : options.shell);
  if (!shell) {
    return report(invocation, shell.error());
  }
  if (options.unset) {
    ui::print_data(exports::print_unset(*shell, invocation.environment));
    return 0;
  }
  auto variables = toolkit_variables(invocation, {.toolkit = options.toolkit,
                                                  .gpus = options.gpus,
                                                  .consumers = options.consumers,
                                                  .venv = options.venv});
  if (!variables) {
    return report(invocation, variables.error());
  }
  if (const auto why = exports::why_no_line(variables->environment, invocation.environment);
      *shell == exports::Shell::plain && !why.empty()) {
    return report(invocation, Error{.code = ErrorCode::usage,
                                    .message = why,
                                    .hint = "use --shell sh, fish or json, which quote it"});
  }
  if (*shell == exports::Shell::sh || *shell == exports::Shell::fish) {
    for (const auto& name : exports::names_beyond_shells(variables->environment)) {
      variables->notes.push_back(
          fmt::format("no shell can set {}; `cukit run` does, and --shell json has it", name));
    }
  }
  say_notes(invocation, variables->notes);
  ui::print_data(exports::print(variables->environment, *shell, invocation.environment));
  return 0;
}

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

int run_run(Invocation& invocation, const RunOptions& options) {
  const auto variables = toolkit_variables(invocation, {.toolkit = options.toolkit});
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
  if (const auto held = store::hand_on_hold(variables->tree.path);
      !held) { // else gc could take the tree away
    report(invocation, held.error());
    return k_own_failure;
  }
  say_notes(invocation, variables->notes);
  return become(exports::apply(variables->environment, invocation.environment), command,
                invocation);
}

} // namespace

void register_env(Commands& commands) {
  auto options = std::make_shared<EnvOptions>();
  auto* app =
      commands.add("env", "Print the variables that make every consumer use a toolkit",
                   [options](Invocation& invocation) { return run_env(invocation, *options); });
  app->add_option("TOOLKIT", options->toolkit,
                  "Name, manifest, path or id of a tree; may be left out when there is one");
  app->add_option("--shell", options->shell,
                  "sh, bash, zsh, fish, json or plain (NAME=VALUE lines)")
      ->type_name("NAME");
  app->add_option("--gpu", options->gpus,
                  "Architecture lists for these instead of the manifest's GPUs")
      ->type_name("GPU");
  app->add_option("--consumer", options->consumers, "Variables of these consumers alone")
      ->type_name("NAME");
  app->add_option("--venv", options->venv,
                  "The Python environment whose packages will use it; else the manifest's or the "
                  "active one")
      ->type_name("DIR");
  app->add_flag("--unset", options->unset,
                "Take back what `cukit env` set in this shell; no toolkit is needed");
}

void register_run(Commands& commands) {
  auto options = std::make_shared<RunOptions>();
  auto* app =
      commands.add("run", "Run a program with a toolkit's variables",
                   [options](Invocation& invocation) { return run_run(invocation, *options); });
  app->add_option("TOOLKIT", options->toolkit, "Name, manifest, path or id of a tree")->required();
  app->add_option("COMMAND", options->command,
                  "The program and its arguments: everything behind TOOLKIT")
      ->required();
}

} // namespace cukit::cmd
