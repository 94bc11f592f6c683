#include "base/strings.hpp"
#include "cli.hpp"
#include "commands/env_toolkit.hpp"
#include "exports/shells.hpp"
#include "exports/variable_files.hpp"
#include "ui/output.hpp"

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

/// What `--shell` or one of its short forms asks for.
struct EnvForm {
  std::optional<exports::VariableFile> file;
  exports::Shell shell = exports::Shell::sh;
};
Result<EnvForm> form_of(const Invocation& invocation, const EnvOptions& options) {
  const auto name = invocation.options.json ? "json" : options.shell;
  if (const auto file = exports::parse_variable_file(name)) {
    return EnvForm{.file = file};
  }
  CUKIT_TRY_ASSIGN(const auto shell, exports::parse_shell(name));
  return EnvForm{.file = std::nullopt, .shell = shell};
}

Result<std::string> unset_text(const Invocation& invocation, const EnvForm& form) {
  if (!form.file) {
    return exports::print_unset(form.shell, invocation.environment);
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = "--unset takes back what a shell has evaluated, and this form is a file's",
            .hint = std::string(exports::how_to_take_back(*form.file))});
}

std::vector<std::string> notes_on_names(const std::vector<std::string>& names) {
  std::vector<std::string> notes;
  for (const auto& name : names) {
    notes.push_back(
        fmt::format("no shell can set {}; `cukit run` does, and --shell json has it", name));
  }
  return notes;
}

Result<std::string> text_of(const Invocation& invocation, const ToolkitVariables& variables,
                            const EnvForm& form) {
  const auto& environment = variables.environment;
  if (form.file) {
    return exports::write_variable_file(environment, *form.file, invocation.environment,
                                        fmt::format("CUDA {}, content {}",
                                                    variables.tree.release.text(),
                                                    variables.tree.content.text()));
  }
  if (const auto why = exports::why_no_line(environment, form.shell, invocation.environment);
      !why.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = why,
              .hint = "use --shell sh, fish or json, which quote it, or `cukit run`"});
  }
  return exports::print(environment, form.shell, invocation.environment);
}

int run_env(Invocation& invocation, const EnvOptions& options) {
  const auto form = form_of(invocation, options);
  if (!form) {
    return report(invocation, form.error());
  }
  if (options.unset) {
    const auto text = unset_text(invocation, *form);
    if (!text) {
      return report(invocation, text.error());
    }
    ui::print_data(*text);
    return 0;
  }
  const auto variables = toolkit_variables(invocation, {.toolkit = options.toolkit,
                                                        .gpus = options.gpus,
                                                        .consumers = options.consumers,
                                                        .venv = options.venv});
  if (!variables) {
    return report(invocation, variables.error());
  }
  const auto text = text_of(invocation, *variables, *form);
  if (!text) {
    return report(invocation, text.error());
  }
  say_notes(invocation, variables->notes);
  if (!form->file || exports::is_for_one_run(*form->file)) {
    say_notes(invocation, variables->notes_on_caller);
  }
  if (form->file) {
    say_notes(invocation,
              notes_on_names(exports::names_beyond(variables->environment, *form->file)));
  } else if (exports::is_evaluated(form->shell)) {
    say_notes(invocation, notes_on_names(exports::names_beyond_shells(variables->environment)));
  }
  ui::print_data(*text);
  return 0;
}

} // namespace

void register_env(Commands& commands) {
  auto options = std::make_shared<EnvOptions>();
  auto* app =
      commands.add("env", "Print the variables that make every consumer use a toolkit",
                   [options](Invocation& invocation) { return run_env(invocation, *options); });
  app->add_option("TOOLKIT", options->toolkit,
                  "Name, manifest, path or id of a tree; default: of cukit.yaml here or above, "
                  "else the only one");
  auto* shell =
      app->add_option("--shell", options->shell,
                      "sh, bash, zsh, fish, csh, tcsh, json or plain (NAME=VALUE lines); or a "
                      "file's form: " +
                          join(exports::names_of_variable_files(), ", "))
          ->type_name("NAME");
  for (const char* name : {"dotenv", "github-env", "github-path"}) {
    app->add_flag_callback(
           "--" + std::string(name), [options, name] { options->shell = name; },
           "Short for --shell " + std::string(name))
        ->excludes(shell);
  }
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

} // namespace cukit::cmd
