// The only main(): reads the environment once, turns signals into a stop request, runs one command,
// prints its error.
#include "base/last_resort.hpp"
#include "cli.hpp"
#include "host/machine.hpp"
#include "run_log.hpp"
#include "ui/progress_view.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

namespace cukit::cmd {

namespace {

/// Blocks the signals that end a program in every thread and waits for them in one: the first asks
/// the work to stop, the second ends the program at once (what it leaves in staging/ is swept by
/// the next run).
class SignalWatch {
public:
  SignalWatch() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
      sigaddset(&set_, number);
    }
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    thread_ = std::jthread([this](const std::stop_token& over) {
      while (!over.stop_requested()) {
        int number = 0;
        if (sigwait(&set_, &number) != 0 || number == SIGUSR1) {
          continue; // SIGUSR1: the destructor wakes us
        }
        if (source_.stop_requested()) {
          std::_Exit(130);
        }
        source_.request_stop();
      }
    });
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() {
    thread_.request_stop();
    pthread_kill(thread_.native_handle(), SIGUSR1);
  }
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

private:
  sigset_t set_{};
  std::stop_source source_;
  std::jthread thread_;
};

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_flag("--json", options.json, "One JSON object on standard output instead of text");
  app.add_flag("-q,--quiet", options.quiet, "No progress");
  app.add_option("--color", options.color, "When to colour: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  app.add_option("--progress", options.progress, "How to show progress: auto, bars, lines or none")
      ->check(CLI::IsMember({"auto", "bars", "lines", "none"}))
      ->type_name("HOW");
  app.add_option("--recipes", options.recipes,
                 "Take the recipes of this folder instead of the built-in ones")
      ->type_name("DIR");
  app.add_flag("--system", options.system,
               "Work on the machine's own store (/opt/cukit or CUKIT_SYSTEM_HOME), which its owner "
               "alone writes");
  app.add_flag(
      "--no-lock", options.no_lock,
      "Go on where the file system keeps no locks; only when no other cukit is at work there");
}

/// Everything behind `doctor --watch` is the build's, its options too; `--` says so to the parser,
/// which otherwise takes `-j` of `make -j` for its own. In the parser's order: the last one first.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  bool is_doctor = false;
  for (auto at = arguments.begin(); at != arguments.end() && *at != "--" && *at != "run"; ++at) {
    is_doctor = is_doctor || *at == "doctor";
    if (is_doctor && *at == "--watch") {
      const auto command = std::next(at);
      if (command != arguments.end() && !command->starts_with('-')) {
        arguments.insert(command, "--");
      }
      break;
    }
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

int run(int argc, char** argv) {
  const SignalWatch signals;
  Invocation invocation;
  invocation.environment = Environment::of_this_process();
  invocation.stop = signals.token();

  CLI::App app("Builds matched CUDA toolchains from NVIDIA's redistributables, proves them and "
               "keeps them side by side.",
               "cukit");
  app.set_version_flag("--version", "cukit " CUKIT_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer("Exit codes: 0 done, 1 the expected \"no\", 2 usage or manifest, 3 conflict, 4 "
             "network or source,\n"
             "5 integrity, 6 host (disk, permission, missing program), 130 interrupted.");
  add_global_options(app, invocation.options);
  Commands commands(app);
  for (void (*enroll)(Commands&) :
       {register_up, register_lock, register_fetch_and_build, register_validate, register_env,
        register_run, register_list, register_verify, register_switch, register_gc,
        register_releases, register_gpus, register_matrix, register_diff, register_why,
        register_init, register_mirror, register_bundle, register_doctor}) {
    enroll(commands);
  }
  try {
    app.parse(arguments_of(argc, argv));
  } catch (const CLI::Success& done) { // --help and --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return static_cast<int>(ErrorCode::usage);
  }
  if (!invocation.environment.get("PATH")) {
    invocation.environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");
  }
  invocation.terminal =
      std::make_unique<ui::Terminal>(invocation.environment, invocation.options.color, 2);
  invocation.progress = ui::make_progress(
      *invocation.terminal, invocation.options.quiet ? "none" : invocation.options.progress);
  const int code = commands.chosen()(invocation);
  log_run(invocation, code);
  return code;
}

} // namespace

void restore_signals() {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

} // namespace cukit::cmd

int main(int argc, char** argv) {
  cukit::install_last_resort();
  if (argc == 2 && std::strcmp(argv[1], "--probe-devices") == 0) {
    return cukit::host::probe_devices_main();
  }
  const int code = cukit::cmd::run(argc, argv);
  // A full disk behind a redirection is first seen here.
  if (std::fflush(stdout) != 0 && code == 0) {
    std::fputs("cukit: cannot write to standard output\n", stderr);
    return static_cast<int>(cukit::ErrorCode::host);
  }
  return code;
}
