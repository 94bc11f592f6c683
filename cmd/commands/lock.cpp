#include "base/strings.hpp"
#include "commands/locks.hpp"
#include "pipeline/locking.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

struct LockOptions {
  SettingsOptions settings;
  std::vector<std::string> manifests;
  bool check = false;
  std::vector<std::string> upgrade;
  bool explain = false;
  std::string exclude_newer;
  std::string assume_driver;
  std::vector<std::string> assume_gpus;
};

constexpr const char* k_everything = "everything";

text::Json passed_over_json(const pipeline::Locked& locked) {
  auto list = text::Json::list();
  for (const auto& entry : locked.passed_over) {
    list.add(text::Json::object()
                 .set("release", entry.release)
                 .set("demand", entry.demand)
                 .set("line", entry.line)
                 .set("reason", entry.reason)
                 .set("source", entry.source));
  }
  return list;
}

text::Json lock_json(const pipeline::Locked& locked, const std::optional<explain::Diff>& diff) {
  auto platforms = text::Json::list();
  for (const auto& part : locked.lock.platforms) {
    platforms.add(std::string(part.platform.text()));
  }
  auto choices = text::Json::list();
  for (const auto& choice : locked.choices) {
    choices.add(text::Json::object()
                    .set("component", choice.component)
                    .set("version", choice.version)
                    .set("source", choice.source)
                    .set("reason", choice.reason));
  }
  auto notes = text::Json::list();
  for (const auto& note : locked.notes) {
    notes.add(text::Json::object().set("text", note.text).set("source", note.source));
  }
  return text::Json::object()
      .set("schema", "cukit.lock/1")
      .set("path", locked.path.string())
      .set("changed", locked.changed)
      .set("release", locked.lock.release.text())
      .set("platforms", platforms)
      .set("why", locked.why)
      .set("choices", choices)
      .set("passed_over", passed_over_json(locked))
      .set("notes", notes)
      .set("diff", diff ? diff_json(*diff) : text::Json());
}

std::string choices_text(const ui::Terminal& terminal, const pipeline::Locked& locked) {
  ui::Table table;
  for (const auto& choice : locked.choices) {
    table.row({choice.component, choice.version, choice.source, choice.reason},
              {ui::Style::bold, ui::Style::plain, ui::Style::dim, ui::Style::plain});
  }
  return table.print(terminal);
}

std::string passed_over_text(const ui::Terminal& terminal, const pipeline::Locked& locked) {
  if (locked.passed_over.empty()) {
    return {};
  }
  std::string out = "  passed over, in the order in which they were looked at\n";
  for (const auto& entry : locked.passed_over) {
    const auto demand =
        entry.demand.empty() ? "" : fmt::format("{} (line {}): ", entry.demand, entry.line);
    out += "  - " +
           ui::flow(terminal,
                    {{"CUDA " + entry.release, ui::Style::bold},
                     {printable(demand) + printable(entry.reason)},
                     {"[" + entry.source + "]", ui::Style::dim}},
                    4, 6) +
           "\n";
  }
  return out;
}

std::string lock_text(const ui::Terminal& terminal, const pipeline::Locked& locked,
                      const LockOptions& options, const std::optional<explain::Diff>& diff) {
  const bool is_only_shown = options.explain && options.upgrade.empty();
  const char* done = !locked.changed ? "unchanged" : is_only_shown ? "would change" : "written";
  std::string out =
      fmt::format("{}: CUDA {}, {}", terminal.paint(ui::Style::bold, locked.path.string()),
                  locked.lock.release.text(), done);
  out += locked.changed && !locked.why.empty() ? fmt::format(" ({})\n", locked.why) : "\n";
  if (diff) {
    out += diff->empty() ? "  the same toolkit as before\n" : diff_text(terminal, *diff);
  }
  if ((locked.changed && !diff) || options.explain) {
    out += choices_text(terminal, locked);
  }
  if (options.explain) {
    out += passed_over_text(terminal, locked);
  }
  for (const auto& note : locked.notes) {
    out += fmt::format(
        "  {} {}\n", terminal.paint(ui::Style::warn, "note"),
        ui::flow(terminal,
                 {{printable(note.text)}, {"[" + printable(note.source) + "]", ui::Style::dim}}, 7,
                 7));
  }
  return out;
}

int lock_one(Invocation& invocation, const LockOptions& options, const std::string& manifest) {
  auto settings = options.settings.settings();
  if (!settings) {
    return report(invocation, settings.error());
  }
  if (!options.upgrade.empty()) {
    settings->lock_mode = pipeline::LockMode::upgrade;
    const auto& names = options.upgrade;
    if (std::find(names.begin(), names.end(), k_everything) == names.end()) {
      settings->upgrade = names;
    }
  }
  settings->exclude_newer = options.exclude_newer;
  settings->assume_driver = options.assume_driver;
  settings->assume_gpus = options.assume_gpus;
  settings->explain = options.explain;
  settings->dry_run = options.explain && options.upgrade.empty();
  auto opened = open_session(invocation, *settings);
  if (!opened) {
    return report(invocation, opened.error());
  }
  auto locked = options.check ? pipeline::check_lock(*opened->session, manifest)
                              : pipeline::ensure_lock(*opened->session, manifest);
  if (!locked) {
    return report(invocation, locked.error());
  }
  std::optional<explain::Diff> diff;
  if (locked->changed && locked->before) {
    auto compared = explain::diff(*locked->before, locked->lock, invocation.knowledge());
    if (!compared) {
      return report(invocation, compared.error());
    }
    diff = *std::move(compared);
  }
  if (invocation.options.json) {
    print_json(lock_json(*locked, diff));
  } else {
    ui::print(lock_text(invocation.output(), *locked, options, diff));
  }
  return 0;
}

} // namespace

void register_lock(Commands& commands) {
  auto options = std::make_shared<LockOptions>();
  auto* app = commands.add("lock", "Resolve a manifest and write the lock beside it",
                           [options](Invocation& invocation) {
                             const auto named = given_or_nearest(invocation, options->manifests);
                             if (!named) {
                               return report(invocation, named.error());
                             }
                             int code = 0;
                             for (const auto& manifest : *named) {
                               const int one = lock_one(invocation, *options, manifest);
                               code = code == 0 ? one : code;
                             }
                             return code;
                           });
  app->add_option("MANIFEST", options->manifests,
                  "Manifests (YAML); default: cukit.yaml here or above");
  auto* check =
      app->add_flag("--check", options->check, "Only say whether the lock holds: exit 0 or 1");
  app->add_flag(fmt::format("--upgrade{{{}}}", k_everything), options->upgrade,
                "Choose anew instead of keeping the earlier lock's choices; --upgrade=COMPONENT "
                "for one component, cuda or ptxas")
      ->excludes(check);
  app->add_option("--exclude-newer", options->exclude_newer,
                  "Only files that were on the index by then: 2026-05-01 (end of that day, UTC) or "
                  "2026-05-01T12:00:00Z")
      ->type_name("DATE")
      ->excludes(check);
  app->add_option("--assume-driver", options->assume_driver,
                  "What `driver: native` means, instead of asking this machine")
      ->type_name("VERSION")
      ->excludes(check);
  app->add_option("--assume-gpu", options->assume_gpus,
                  "What `gpus: native` means, instead of asking this machine")
      ->type_name("GPU")
      ->allow_extra_args(false)
      ->excludes(check);
  app->add_flag("--explain", options->explain, "Show every choice with its reason; writes nothing")
      ->excludes(check);
  options->settings.add_source_options(*app);
}

} // namespace cukit::cmd
