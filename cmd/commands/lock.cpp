#include "base/strings.hpp"
#include "cli.hpp"
#include "pipeline/locking.hpp"

#include <cstdio>

namespace cukit::cmd {

namespace {

struct LockOptions {
  SettingsOptions settings;
  std::vector<std::string> manifests;
  bool check = false;
  bool upgrade = false;
  bool explain = false;
};

text::Json lock_json(const pipeline::Locked& locked) {
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
      .set("choices", choices)
      .set("notes", notes);
}

std::string lock_text(const ui::Terminal& terminal, const pipeline::Locked& locked, bool explain) {
  std::string out =
      fmt::format("{}: CUDA {}, {}", terminal.paint(ui::Style::bold, locked.path.string()),
                  locked.lock.release.text(), locked.changed ? "written" : "unchanged");
  out += locked.changed && !locked.why.empty() ? fmt::format(" ({})\n", locked.why) : "\n";
  if (locked.changed || explain) {
    ui::Table table;
    for (const auto& choice : locked.choices) {
      table.row({choice.component, choice.version, choice.source, choice.reason},
                {ui::Style::bold, ui::Style::plain, ui::Style::dim, ui::Style::plain});
    }
    out += table.print(terminal);
  }
  for (const auto& note : locked.notes) {
    out += fmt::format("  {} {} [{}]\n", terminal.paint(ui::Style::warn, "note"),
                       printable(note.text), printable(note.source));
  }
  return out;
}

int lock_one(Invocation& invocation, const LockOptions& options, const std::string& manifest) {
  auto settings = options.settings.settings();
  if (!settings) {
    return report(invocation, settings.error());
  }
  if (options.upgrade) {
    settings->lock_mode = pipeline::LockMode::upgrade;
  }
  settings->explain = options.explain;
  settings->dry_run = options.explain && !options.upgrade;
  auto opened = open_session(invocation, *settings);
  if (!opened) {
    return report(invocation, opened.error());
  }
  auto locked = options.check ? pipeline::check_lock(*opened->session, manifest)
                              : pipeline::ensure_lock(*opened->session, manifest);
  if (!locked) {
    return report(invocation, locked.error());
  }
  if (invocation.options.json) {
    print_json(lock_json(*locked));
  } else {
    std::fputs(lock_text(*invocation.terminal, *locked, options.explain).c_str(), stdout);
  }
  return 0;
}

} // namespace

void register_lock(Commands& commands) {
  auto options = std::make_shared<LockOptions>();
  auto* app = commands.add("lock", "Resolve a manifest and write the lock beside it",
                           [options](Invocation& invocation) {
                             int code = 0;
                             for (const auto& manifest : options->manifests) {
                               const int one = lock_one(invocation, *options, manifest);
                               code = code == 0 ? one : code;
                             }
                             return code;
                           });
  app->add_option("MANIFEST", options->manifests, "Manifests (YAML)")->required();
  auto* check =
      app->add_flag("--check", options->check, "Only say whether the lock holds: exit 0 or 1");
  app->add_flag("--upgrade", options->upgrade,
                "Choose anew instead of keeping the earlier lock's choices")
      ->excludes(check);
  app->add_flag("--explain", options->explain, "Show every choice with its reason; writes nothing")
      ->excludes(check);
  options->settings.add_source_options(*app);
}

} // namespace cukit::cmd
