// `cukit venv`: what of CUDA a Python environment holds, and whether it fits.
#include "base/strings.hpp"
#include "commands/env_toolkit.hpp"
#include "commands/venv_change.hpp"
#include "commands/venv_text.hpp"
#include "venv/journal.hpp"

namespace cukit::cmd {

namespace {

struct Options : VenvChange {
  std::string toolkit;
  std::string format = "constraints";
  bool write = false;
  bool always = false;
  int (*chosen)(Invocation&, const Options&) = nullptr;
};

struct Seen {
  venv::Inventory inventory;
  std::vector<venv::Trouble> troubles;
  std::optional<venv::Wiring> wiring;
};

/// A toolkit that hooks name, and that is gone, is the first that somebody would notice.
void add_wiring(Seen& seen) {
  if (seen.wiring && !seen.wiring->is_there) {
    const auto path = printable(seen.inventory.place.prefix.string());
    seen.troubles.insert(
        seen.troubles.begin(),
        {.id = "wired-to-nothing",
         .text =
             fmt::format("the toolkit that it is wired to is gone: {}", seen.wiring->tree.string()),
         .next = fmt::format("`cukit venv wire {0} TOOLKIT` or `cukit venv unwire {0}`", path)});
  }
}

Result<Seen> look(const Invocation& invocation, const Options& options, venv::Depth depth) {
  CUKIT_TRY_ASSIGN(const auto place, venv::find_place(options.path));
  Seen seen;
  CUKIT_TRY_ASSIGN(seen.inventory, venv::take_inventory(place, depth, invocation.stop));
  CUKIT_TRY_ASSIGN(seen.troubles, venv::judge(seen.inventory, invocation.knowledge()));
  CUKIT_TRY_ASSIGN(seen.wiring, venv::find_wiring(place));
  add_wiring(seen);
  if (venv::is_unfinished(place)) {
    seen.troubles.insert(
        seen.troubles.begin(),
        {.id = "unfinished",
         .text = "a change of `cukit venv` was stopped midway",
         .next = fmt::format("`cukit venv apply {0}` completes it, `cukit venv restore {0}` takes "
                             "it back",
                             printable(place.prefix.string()))});
  }
  return seen;
}

int run_show(Invocation& invocation, const Options& options) {
  const auto seen = look(invocation, options, venv::Depth::bytes);
  if (!seen) {
    return report(invocation, seen.error());
  }
  const VenvView view{seen->inventory, seen->troubles, seen->wiring};
  if (invocation.options.json) {
    print_json(venv_show_json(view));
  } else {
    ui::print(venv_show_text(invocation.output(), view));
  }
  return 0;
}

int run_check(Invocation& invocation, const Options& options) {
  const auto seen = look(invocation, options, venv::Depth::sizes);
  if (!seen) {
    return report(invocation, seen.error());
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.venv-check/1")
                   .set("path", seen->inventory.place.prefix.string())
                   .set("fits", seen->troubles.empty())
                   .set("troubles", troubles_json(seen->troubles)));
  } else if (!seen->troubles.empty()) {
    ui::print(troubles_text(seen->troubles));
  } else if (!invocation.options.quiet) {
    ui::print(fmt::format("{}: all fits\n", seen->inventory.place.prefix.string()));
  }
  return seen->troubles.empty() ? 0 : static_cast<int>(ErrorCode::expected_no);
}

Result<venv::WheelSet> wheels_for(const Invocation& invocation, const venv::Place& place) {
  CUKIT_TRY_ASSIGN(const auto inventory,
                   venv::take_inventory(place, venv::Depth::sizes, invocation.stop));
  return venv::coherent_set(inventory, invocation.knowledge());
}

int run_pin(Invocation& invocation, const Options& options) {
  const auto format = venv::parse_pin_format(options.format);
  const auto place = format ? venv::find_place(options.path) : tl::unexpected(format.error());
  const auto set = place ? wheels_for(invocation, *place) : tl::unexpected(place.error());
  if (!set) {
    return report(invocation, set.error());
  }
  std::vector<venv::Written> files;
  if (options.write) {
    auto written = venv::write_pins(*place, *set);
    if (!written) {
      return report(invocation, written.error());
    }
    files = *std::move(written);
  }
  if (invocation.options.json) {
    print_json(wheels_json(*set).set("files", written_json(files)));
  } else if (options.write) {
    ui::print(written_text(files, "written:"));
  } else {
    ui::print_data(venv::print(*set, *format));
  }
  return 0;
}

int print_written(Invocation& invocation, const venv::Place& place, const char* verb,
                  const Result<std::vector<venv::Written>>& files) {
  if (!files) {
    return report(invocation, files.error());
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.venv-wire/1")
                   .set("path", place.prefix.string())
                   .set("files", written_json(*files)));
  } else {
    ui::print(written_text(*files, verb));
  }
  return 0;
}

int run_wire(Invocation& invocation, const Options& options) {
  const auto place = venv::find_place(options.path);
  if (!place) {
    return report(invocation, place.error());
  }
  const auto variables =
      toolkit_variables(invocation, {.toolkit = options.toolkit, .venv = place->prefix.string()});
  if (!variables) {
    return report(invocation, variables.error());
  }
  return print_written(invocation, *place,
                       "wired:", venv::wire(*place, variables->environment, options.always));
}

int run_unwire(Invocation& invocation, const Options& options) {
  const auto place = venv::find_place(options.path);
  return place ? print_written(invocation, *place, "as before:", venv::unwire(*place))
               : report(invocation, place.error());
}

CLI::App* add(CLI::App& app, const std::shared_ptr<Options>& options, const char* name,
              const char* summary, int (*run)(Invocation&, const Options&)) {
  auto* command = app.add_subcommand(name, summary);
  command->callback([options, run] { options->chosen = run; });
  command
      ->add_option("PATH", options->path,
                   "The environment: its folder, its site-packages or its python; of conda its "
                   "prefix")
      ->required();
  return command;
}

template <int (*run)(Invocation&, const VenvChange&)>
int change(Invocation& invocation, const Options& options) {
  return run(invocation, options);
}

void add_changes(CLI::App& app, const std::shared_ptr<Options>& options) {
  auto* plan = add(app, options, "plan",
                   "The smallest change that gives it one compiler with its headers and CCCL",
                   change<run_venv_plan>);
  auto* apply =
      add(app, options, "apply", "Make that change; it can be taken back", change<run_venv_apply>);
  for (auto* command : {plan, apply}) {
    command
        ->add_option("--manifest", options->manifest,
                     "The wheels of this manifest's lock instead of the release that fits the pins")
        ->type_name("FILE");
    options->settings.add_source_options(*command);
  }
  auto* restore = add(app, options, "restore", "Take the last change back, byte for byte",
                      change<run_venv_restore>);
  restore
      ->add_option("--to", options->to, "Take all changes behind this one back; 0: all there are")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  add(app, options, "history", "The changes that can be taken back", change<run_venv_history>);
}

} // namespace

void register_venv(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto* app = commands.add(
      "venv", "Look after the CUDA of a Python environment",
      [options](Invocation& invocation) { return options->chosen(invocation, *options); });
  app->require_subcommand(1);
  add(*app, options, "show", "Whose each file of CUDA is, who pins what, and what is really there",
      run_show);
  add(*app, options, "check",
      "Whether it still fits: nothing changed, missing or of another release (exit 1)", run_check);
  auto* pin =
      add(*app, options, "pin",
          "The versions of CUDA's wheels that belong together here, as constraints", run_pin);
  pin->add_option("--format", options->format, "constraints, uv (pyproject.toml) or conda")
      ->type_name("NAME");
  pin->add_flag("--write", options->write,
                "Put them into the environment's pip.conf and the project's pyproject.toml, or "
                "conda's pinned");
  auto* wire =
      add(*app, options, "wire",
          "Let a toolkit's variables be set when it is activated; no package changes", run_wire);
  wire->add_option("TOOLKIT", options->toolkit,
                   "Name, manifest, path or id of a tree; may be left out when there is one");
  wire->add_flag("--always", options->always,
                 "Also for programs that its python starts without activation");
  add_changes(*app, options);
  add(*app, options, "unwire", "Take that back: every file as it was before", run_unwire);
}

} // namespace cukit::cmd
