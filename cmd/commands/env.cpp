#include "base/start_failure.hpp"
#include "cli.hpp"
#include "export/environment.hpp"
#include "pipeline/jit_caches.hpp"
#include "signals.hpp"
#include "store/hand_on.hpp"

#include <cerrno>
#include <unistd.h>

namespace cukit::cmd {

namespace {

struct EnvOptions {
  std::string toolkit;
  std::string shell = "sh";
  std::vector<std::string> gpus;
  std::vector<std::string> consumers;
};

struct RunOptions {
  std::string toolkit;
  std::vector<std::string> command;
};

/// A toolkit's variables, with the hold on its tree.
struct Toolkit {
  assemble::Tree tree;
  exports::ToolkitEnvironment environment;
};

Result<Toolkit> toolkit_environment(const Invocation& invocation, const std::string& toolkit,
                                    const std::vector<std::string>& gpus,
                                    const std::vector<std::string>& consumers) {
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  CUKIT_TRY_ASSIGN(auto reference, find_tree(invocation, home, toolkit));
  pipeline::remember_place(home, reference.tree);
  exports::Request request{.tree = reference.tree.path,
                           .gpus = reference.gpus,
                           .consumers = consumers,
                           .jit = home.jit(reference.tree.id.hex())};
  if (!gpus.empty()) {
    request.gpus.clear();
  }
  for (const auto& text : gpus) {
    CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, text));
    request.gpus.push_back(gpu);
  }
  CUKIT_TRY_ASSIGN(auto environment, exports::environment(request, knowledge));
  return Toolkit{.tree = std::move(reference.tree), .environment = std::move(environment)};
}

int run_env(Invocation& invocation, const EnvOptions& options) {
  const auto shell = exports::parse_shell(invocation.options.json ? "json" : options.shell);
  if (!shell) {
    return report(invocation, shell.error());
  }
  const auto toolkit =
      toolkit_environment(invocation, options.toolkit, options.gpus, options.consumers);
  if (!toolkit) {
    return report(invocation, toolkit.error());
  }
  const auto& variables = toolkit->environment;
  if (const auto why = exports::why_no_line(variables, invocation.environment);
      *shell == exports::Shell::plain && !why.empty()) {
    return report(invocation, Error{.code = ErrorCode::usage,
                                    .message = why,
                                    .hint = "use --shell sh, fish or json, which quote it"});
  }
  ui::print_data(exports::print(variables, *shell, invocation.environment));
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
  const auto toolkit = toolkit_environment(invocation, options.toolkit, {}, {});
  if (!toolkit) {
    report(invocation, toolkit.error());
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
  if (const auto held = store::hand_on_hold(toolkit->tree.path);
      !held) { // else gc could take the tree away
    report(invocation, held.error());
    return k_own_failure;
  }
  return become(exports::apply(toolkit->environment, invocation.environment), command, invocation);
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
