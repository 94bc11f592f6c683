// The only main(): reads the environment once, turns signals into a stop request, runs one command,
// prints its error.
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "cli.hpp"
#include "command_line.hpp"
#include "machine/machine.hpp"
#include "run_log.hpp"
#include "signals.hpp"
#include "ui/progress_view.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace cukit::cmd {

namespace {

/// The command line is nearer than the variable.
void start_log_as_asked(const Invocation& invocation) {
  const auto variable = invocation.environment.get("CUKIT_LOG").value_or("");
  const auto wish = log_wish(variable);
  const int given = std::min(invocation.options.verbose, 2);
  start_log(given > 0 ? static_cast<LogLevel>(given) : wish.level,
            given > 0 ? std::string_view() : wish.modules);
}

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_flag("--json", options.json, "One JSON object on standard output instead of text");
  app.add_flag("-q,--quiet", options.quiet, "No progress");
  app.add_flag("-v,--verbose", options.verbose,
               "Say each decision and why, with its module; -vv more; CUKIT_LOG names modules");
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

int refused(const Error& error, bool wants_json) {
  const Environment environment = Environment::of_this_process();
  if (wants_json) {
    print_json(error_json(error));
  } else {
    ui::say(error_text(ui::Terminal(environment, "auto", 2), error));
  }
  return static_cast<int>(error.code);
}

/// Reads the command line into `app`; an exit code where there is nothing more to do.
std::optional<int> parse(CLI::App& app, const std::vector<std::string>& given) {
  const bool wants_json = std::find(given.begin(), given.end(), "--json") != given.end();
  auto words = understood(app, given);
  if (!words) {
    return refused(words.error(), wants_json);
  }
  try {
    std::reverse(words->begin(), words->end()); // the parser's order
    app.parse(*std::move(words));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    if (app.exit(error, out, out) == 0) { // --help and --version
      ui::print(out.str());
      return 0;
    }
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
        app.get_subcommands().empty()) {
      ui::say(app.help());
      return static_cast<int>(ErrorCode::usage);
    }
    return refused(mistake(app, error), wants_json);
  }
  if (const auto complete = refuse_empty_values(app); !complete) {
    return refused(complete.error(), wants_json);
  }
  return std::nullopt;
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
  for (void (*enroll)(Commands&) : {register_up,       register_lock,   register_fetch_and_build,
                                    register_validate, register_env,    register_run,
                                    register_shell,    register_list,   register_verify,
                                    register_switch,   register_gc,     register_releases,
                                    register_gpus,     register_matrix, register_diff,
                                    register_why,      register_init,   register_sbom,
                                    register_export,   register_mirror, register_bundle,
                                    register_doctor,   register_venv}) {
    enroll(commands);
  }
  if (const auto code = parse(app, {argv + 1, argv + argc})) {
    return *code;
  }
  if (!invocation.environment.get("PATH")) {
    invocation.environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");
  }
  start_log_as_asked(invocation);
  invocation.terminal =
      std::make_unique<ui::Terminal>(invocation.environment, invocation.options.color, 2);
  invocation.progress = ui::make_progress(
      *invocation.terminal, invocation.options.quiet ? "none" : invocation.options.progress);
  const int code = commands.chosen()(invocation);
  log_run(invocation, code);
  return code;
}

} // namespace

} // namespace cukit::cmd

int main(int argc, char** argv) {
  cukit::ui::open_standard_descriptors();
  cukit::install_last_resort();
  if (argc == 2 && std::strcmp(argv[1], "--probe-devices") == 0) {
    return cukit::machine::probe_devices_main();
  }
  return cukit::ui::exit_code_after_output(cukit::cmd::run(argc, argv));
}
