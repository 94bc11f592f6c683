#include "cli.hpp"

#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "command_line.hpp"
#include "exports/environment.hpp"
#include "lock/lock.hpp"
#include "names/names.hpp"
#include "pipeline/trees.hpp"
#include "store/home_check.hpp"

#include <algorithm>
#include <unistd.h>

namespace cukit::cmd {

ui::Terminal Invocation::output() const {
  return {environment, options.color, STDOUT_FILENO};
}

std::string Invocation::own_name() const {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return "cukit";
  }
  const fs::path found = environment.find_program("cukit");
  return !found.empty() && fs::equivalent(found, self, error) && !error ? "cukit" : self.string();
}

knowledge::Knowledge Invocation::knowledge() const {
  return options.recipes.empty() ? knowledge::Knowledge::embedded()
                                 : knowledge::Knowledge::from(options.recipes);
}

Result<store::Home> Invocation::home() const {
  auto home = options.system ? store::find_system_home(environment) : store::find_home(environment);
  if (home) {
    home->no_lock = options.no_lock;
    CUKIT_TRY(store::check_home(*home));
    CUKIT_TRY(store::check_folders(*home));
  }
  return home;
}

CLI::App* Commands::add(const std::string& name, const std::string& summary, Action action) {
  auto* command = app_.add_subcommand(name, summary);
  command->callback([this, name, action = std::move(action)] {
    chosen_ = [name, action](Invocation& invocation) {
      invocation.command = name;
      return action(invocation);
    };
  });
  return command;
}

void SettingsOptions::add_source_options(CLI::App& app) {
  app.add_option("--index-url", index_url,
                 "Python index (URL or folder) instead of the configured one")
      ->type_name("URL");
  app.add_option("--redist-url", redist_url,
                 "Where NVIDIA's redistributables are (URLs or folders, separated by spaces)")
      ->type_name("URL");
  app.add_option("--mirror", mirrors,
                 "Where to look first for locked files: a folder or URL; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PLACE");
  app.add_flag("--netrc", netrc, "Take logins from the file in NETRC, else from ~/.netrc");
}

void SettingsOptions::add_lock_options(CLI::App& app) {
  auto* first = app.add_flag("--locked", locked,
                             "Fail when the lock is stale or this machine does not meet it");
  app.add_flag("--frozen", frozen, "Take the lock as it is")->excludes(first);
  add_source_options(app);
}

void SettingsOptions::add_tree_options(CLI::App& app) {
  app.add_option("--platform", platform,
                 "linux-x86_64, linux-sbsa or linux-aarch64; default: this machine's")
      ->type_name("NAME");
  app.add_option("--prefix", prefix, "Put a self-contained copy there, and nothing anywhere else")
      ->check(text_name())
      ->type_name("DIR");
  app.add_option("--durability", durability,
                 "full: nothing is renamed before it is on disk; normal: leave that to the kernel")
      ->check(CLI::IsMember({"full", "normal"}))
      ->type_name("HOW");
}

Result<pipeline::Settings> SettingsOptions::settings() const {
  pipeline::Settings result;
  result.lock_mode = locked   ? pipeline::LockMode::locked
                     : frozen ? pipeline::LockMode::frozen
                              : pipeline::LockMode::normal;
  result.index_url = index_url;
  result.redist_url = redist_url;
  result.mirrors = mirrors;
  result.bundle = bundle;
  result.netrc = netrc;
  if (!platform.empty()) {
    CUKIT_TRY_ASSIGN(result.platform, Platform::parse(platform));
  }
  result.prefix = prefix;
  result.durability = durability == "full" ? store::Durability::full : store::Durability::normal;
  result.validate = !no_validate;
  result.dry_run = dry_run;
  return result;
}

void add_platforms_option(CLI::App& app, std::vector<std::string>& names) {
  app.add_option("--platform", names,
                 "Only these platforms; default: all of the locks; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
}

Result<std::vector<Platform>> parse_platforms(const std::vector<std::string>& names) {
  std::vector<Platform> result;
  for (const auto& name : names) {
    CUKIT_TRY_ASSIGN(const auto platform, Platform::parse(name));
    result.push_back(platform);
  }
  return result;
}

namespace {

/// Where a tree is made must be a place that its variables can name.
Result<void> check_place(const store::Home& home, const std::string& prefix) {
  const auto why = exports::why_unnameable(prefix.empty() ? home.root : fs::path(prefix));
  if (why.empty()) {
    return {};
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = "a toolkit there could not be used: " + why,
            .where = prefix.empty() ? home.root.string() : prefix,
            .hint = prefix.empty() ? "point CUKIT_HOME at a folder without such a character"
                                   : "choose another folder for --prefix"});
}

/// A prefix must not lie in a folder of the store's: what stands there is a tree that others use,
/// or goes with the next gc.
Result<void> check_prefix(const Invocation& invocation, const fs::path& prefix) {
  std::error_code error;
  const auto real = [&](const fs::path& path) { return fs::weakly_canonical(path, error); };
  const auto wanted = real(prefix);
  std::vector<fs::path> roots;
  if (const auto home = invocation.home()) { // without one there is nothing to protect
    roots = {home->root, home->cache, home->system};
  }
  // A home that is not this one's, or is reached by another way.
  for (auto folder = wanted; folder != folder.parent_path(); folder = folder.parent_path()) {
    if (folder_exists(folder / "trees") && folder_exists(folder / "store") &&
        path_exists(folder / "version")) {
      roots.push_back(folder);
    }
  }
  for (const auto& root : roots) {
    const auto inside = root.empty() ? "" : wanted.lexically_relative(real(root)).string();
    if (!inside.empty() && inside != ".." && !inside.starts_with("../")) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::usage,
                .message = fmt::format("--prefix {} lies in the folder that cukit keeps its own "
                                       "trees in, {}",
                                       prefix.string(), root.string()),
                .hint = "name a folder elsewhere; a toolkit of that folder is used where it stands "
                        "(`cukit env`)"});
    }
  }
  return {};
}

} // namespace

Result<OpenSession> open_session(Invocation& invocation, const pipeline::Settings& settings) {
  OpenSession result;
  store::Home home;
  if (!settings.prefix.empty()) {
    CUKIT_TRY(check_prefix(invocation, settings.prefix));
  }
  if (!settings.prefix.empty() && !invocation.environment.get("CUKIT_HOME") &&
      !invocation.options.system) {
    CUKIT_TRY_ASSIGN(const auto prefix, absolute_path(settings.prefix));
    CUKIT_TRY(check_place(home, prefix.string()));
    const auto parent = prefix.parent_path();
    CUKIT_TRY_ASSIGN(result.temporary_home,
                     HeldDirectory::create(parent.empty() ? "/" : parent, temporary::k_home));
    home.root = result.temporary_home->path();
    home.cache = home.root / "cache";
  } else {
    CUKIT_TRY_ASSIGN(home, invocation.home());
    CUKIT_TRY(check_place(home, settings.prefix));
    invocation.worked_on = home;
  }
  result.session =
      std::make_unique<pipeline::Session>(invocation.environment, home, invocation.knowledge(),
                                          settings, *invocation.progress, invocation.stop);
  return result;
}

Result<OpenSession> open_session(Invocation& invocation, const SettingsOptions& options) {
  CUKIT_TRY_ASSIGN(const auto settings, options.settings());
  return open_session(invocation, settings);
}

void print_json(const text::Json& json) {
  ui::print_data(json.dump() + "\n");
}

namespace {

/// A word of a sentence that may hold a URL, also one that became a path (https:/USER@HOST).
std::string without_login(std::string_view word) {
  const auto mark = word.find(":/");
  if (mark == std::string_view::npos || word.find('@', mark) == std::string_view::npos) {
    return std::string(word);
  }
  const auto begin = std::min(word.find_first_not_of('/', mark + 1), word.size());
  constexpr std::string_view scheme = "x://";
  const auto shown = redact_url(std::string(scheme) + std::string(word.substr(begin)));
  return std::string(word.substr(0, begin)) + shown.substr(scheme.size());
}

} // namespace

std::string without_logins(std::string_view text) {
  constexpr std::string_view ends = " \t\r\n`'\"<>|";
  std::string out;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find_first_of(ends));
    out += without_login(word);
    text.remove_prefix(word.size());
    const auto between = text.substr(0, std::min(text.find_first_not_of(ends), text.size()));
    out += between;
    text.remove_prefix(between.size());
  }
  return out;
}

text::Json error_json(const Error& error) {
  auto causes = text::Json::list();
  for (const auto& cause : error.causes) {
    causes.add(without_logins(cause));
  }
  return text::Json::object()
      .set("schema", "cukit.error/1")
      .set("code", static_cast<int>(error.code))
      .set("message", without_logins(error.message))
      .set("where", without_logins(error.where))
      .set("causes", causes)
      .set("hint", without_logins(error.hint));
}

namespace {

/// Sets the demands and the ways out of one clash.
void add_clash(text::Json& json, const std::vector<resolve::Demand>& clash,
               const std::vector<resolve::WayOut>& ways_out) {
  auto demands = text::Json::list();
  for (const auto& demand : clash) {
    demands.add(text::Json::object()
                    .set("text", demand.text)
                    .set("file", demand.file)
                    .set("line", demand.line)
                    .set("reason", demand.reason)
                    .set("source", demand.source));
  }
  auto ways = text::Json::list();
  for (const auto& way : ways_out) {
    ways.add(text::Json::object()
                 .set("change", way.change)
                 .set("result", way.result)
                 .set("steps", text::Json::list(way.steps)));
  }
  json.set("demands", demands).set("ways_out", ways);
}

} // namespace

text::Json conflict_json(const resolve::Conflict& conflict) {
  auto json = text::Json::object().set("schema", "cukit.conflict/1");
  add_clash(json, conflict.demands, conflict.ways_out);
  auto further = text::Json::list();
  for (const auto& clash : conflict.further) {
    auto one = text::Json::object();
    add_clash(one, clash.demands, clash.ways_out);
    further.add(one);
  }
  return json.set("further", further);
}

std::string error_text(const ui::Terminal& terminal, const Error& error) {
  std::string out = terminal.paint(ui::Style::bad, "error") + ": " +
                    printable(without_logins(error.message)) + "\n";
  if (!error.where.empty()) {
    out += "  at " + printable(without_logins(error.where)) + "\n";
  }
  for (const auto& cause : error.causes) {
    out += "  " + terminal.paint(ui::Style::dim, "because") + " " +
           printable(without_logins(cause)) + "\n";
  }
  if (!error.hint.empty()) {
    out += "  " + terminal.paint(ui::Style::accent, "next") + ": " +
           printable(without_logins(error.hint)) + "\n";
  }
  return out;
}

namespace {

constexpr std::size_t k_shown_ways = 3;

std::string demands_text(const ui::Terminal& terminal,
                         const std::vector<resolve::Demand>& demands) {
  std::string out;
  for (const auto& demand : demands) {
    out += "  - " + terminal.paint(ui::Style::bold, printable(demand.text));
    if (demand.line > 0) {
      out += terminal.paint(ui::Style::dim,
                            fmt::format("  ({}:{})", printable(demand.file), demand.line));
    }
    const auto source = demand.source.empty() ? "" : "[" + printable(demand.source) + "]";
    out += "\n      " +
           ui::flow(terminal, {{printable(demand.reason)}, {source, ui::Style::dim}}, 6, 6) + "\n";
  }
  return out;
}

std::string ways_text(const ui::Terminal& terminal, const std::vector<resolve::WayOut>& ways) {
  std::string out;
  for (std::size_t i = 0; i < ways.size() && i < k_shown_ways; ++i) {
    const auto& way = ways[i];
    out += "  " + terminal.paint(ui::Style::accent, "*") + " " +
           ui::flow(terminal, {{printable(way.change)}}, 4, 4) + "\n      gives " +
           printable(way.result) + "\n";
    for (const auto& step : way.steps) {
      out += "      - " + ui::flow(terminal, {{printable(step)}}, 8, 8) + "\n";
    }
  }
  if (ways.size() > k_shown_ways) {
    out += fmt::format("  ({} more with --json)\n", ways.size() - k_shown_ways);
  }
  return out;
}

} // namespace

std::string conflict_text(const ui::Terminal& terminal, const Error& error,
                          const resolve::Conflict& conflict) {
  std::string out =
      terminal.paint(ui::Style::bad, "conflict") + ": " + printable(error.message) + "\n";
  out += "  these demands cannot hold together:\n" + demands_text(terminal, conflict.demands);
  if (conflict.ways_out.empty()) {
    out += "  " + terminal.paint(ui::Style::accent, "next") +
           ": no single change solves it; leave one of these out\n";
  } else {
    out += "  any one of these changes solves it:\n" + ways_text(terminal, conflict.ways_out);
  }
  for (const auto& clash : conflict.further) {
    out += "  nor can these:\n" + demands_text(terminal, clash.demands);
    if (!clash.ways_out.empty()) {
      out += "  any one of these changes solves that:\n" + ways_text(terminal, clash.ways_out);
    }
  }
  return out;
}

int report(Invocation& invocation, const Error& error) {
  if (!invocation.outcome) { // what was done before says more
    invocation.outcome = error_json(error);
  }
  if (invocation.options.json) {
    print_json(error_json(error));
  } else {
    ui::say(error_text(*invocation.terminal, error));
  }
  return static_cast<int>(error.code);
}

int report(Invocation& invocation, const pipeline::Failure& failure) {
  if (!failure.conflict) {
    return report(invocation, failure.error);
  }
  invocation.outcome = conflict_json(*failure.conflict);
  if (invocation.options.json) {
    print_json(*invocation.outcome);
  } else {
    ui::say(conflict_text(*invocation.terminal, failure.error, *failure.conflict));
  }
  return static_cast<int>(ErrorCode::conflict);
}

} // namespace cukit::cmd
