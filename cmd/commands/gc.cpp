// gc and du: what may go, and where the bytes are.
#include "home/gc.hpp"

#include "base/strings.hpp"
#include "commands/summary.hpp"
#include "home/du.hpp"

#include <charconv>
#include <ctime>

namespace cukit::cmd {

namespace {

struct Options {
  std::string older_than;
  int keep = 0;
  bool has_keep = false;
  std::string name;
  std::string staging_age = "1h";
  std::string download_age = "7d";
  bool dry_run = false;
};

/// 30d, 12h, 90m, 45s or 2w.
Result<std::chrono::seconds> parse_age(const std::string& text) {
  static const std::map<char, std::int64_t> units{
      {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  const auto unit = text.empty() ? units.end() : units.find(text.back());
  if (parsed.ec != std::errc() || parsed.ptr + 1 != end || unit == units.end() || count < 0 ||
      count > 1'000'000) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("`{}` is no age", printable(text)),
              .hint = "write a number and a unit: 30d, 12h, 90m, 45s or 2w"});
  }
  return std::chrono::seconds(count * unit->second);
}

Result<home::GcOptions> gc_options(const Options& options) {
  home::GcOptions result;
  result.name = options.name;
  if (!options.older_than.empty()) {
    CUKIT_TRY_ASSIGN(result.older_than, parse_age(options.older_than));
  }
  if (options.has_keep) {
    result.keep = options.keep;
  }
  CUKIT_TRY_ASSIGN(result.staging_age, parse_age(options.staging_age));
  CUKIT_TRY_ASSIGN(result.download_age, parse_age(options.download_age));
  return result;
}

std::string garbage_text(const home::Garbage& garbage) {
  std::string out;
  for (const auto& one : garbage.generations) {
    out += fmt::format("generation {} of {}{}  (tree {})\n", one.number, one.name,
                       one.current ? ", the current one" : "", one.tree.substr(0, 16));
  }
  for (const auto& id : garbage.trees) {
    out += fmt::format("tree {}\n", printable(id.substr(0, 16)));
  }
  for (const auto& key : garbage.entries) {
    out += fmt::format("store entry {}\n", printable(key.substr(0, 16)));
  }
  for (const auto& cache : garbage.caches) {
    out += fmt::format("kernels compiled with tree {}\n",
                       printable(cache.filename().string().substr(0, 16)));
  }
  for (const auto& folder : garbage.staging) {
    out += fmt::format("left by a run that died: {}\n", printable(folder.string()));
  }
  for (const auto& file : garbage.reports) {
    out += fmt::format("report that no generation has: {}\n", printable(file.string()));
  }
  for (const auto& file : garbage.downloads) {
    out += fmt::format("download that nobody went on with: {}\n", printable(file.string()));
  }
  return out;
}

text::Json garbage_json(const home::Garbage& garbage) {
  auto generations = text::Json::list();
  for (const auto& one : garbage.generations) {
    generations.add(text::Json::object()
                        .set("name", one.name)
                        .set("generation", one.number)
                        .set("tree", one.tree));
  }
  const auto list = [](const auto& items) {
    auto json = text::Json::list();
    for (const auto& item : items) {
      json.add(fs::path(item).string());
    }
    return json;
  };
  return text::Json::object()
      .set("generations", generations)
      .set("trees", list(garbage.trees))
      .set("entries", list(garbage.entries))
      .set("caches", list(garbage.caches))
      .set("staging", list(garbage.staging))
      .set("reports", list(garbage.reports))
      .set("downloads", list(garbage.downloads))
      .set("bytes", garbage.bytes);
}

void print_gc(const Invocation& invocation, const home::Collected& done, bool dry_run) {
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.gc/1")
                   .set("dry_run", dry_run)
                   .set("removed", garbage_json(done.removed))
                   .set("in_use", text::Json::list(done.in_use)));
    return;
  }
  std::string out;
  for (const auto& one : done.in_use) {
    out += fmt::format("stays, because it is used now: {}\n", printable(one));
  }
  out += done.removed.empty() ? std::string("nothing to remove\n")
                              : fmt::format("{} {}\n", human_bytes(done.removed.bytes),
                                            dry_run ? "would come back" : "came back");
  ui::print(out);
}

Result<void> run_gc(Invocation& invocation, const Options& options) {
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  CUKIT_TRY_ASSIGN(const auto wanted, gc_options(options));
  const std::int64_t now = std::time(nullptr);
  if (!options.dry_run) {
    sweep_temporary(temporary_folder(invocation.environment));
  }
  CUKIT_TRY_ASSIGN(const auto garbage, home::find_garbage(home, wanted, now, invocation.stop));
  if (!invocation.options.json) {
    ui::print(garbage_text(garbage));
  }
  if (options.dry_run || garbage.empty()) {
    print_gc(invocation, {.removed = garbage, .in_use = {}}, options.dry_run);
    return {};
  }
  invocation.worked_on = home;
  CUKIT_TRY_ASSIGN(const auto done, home::collect(home, garbage, wanted, now, invocation.stop));
  invocation.outcome = garbage_json(done.removed);
  print_gc(invocation, done, false);
  return {};
}

text::Json usage_json(const store::Home& home, const home::DiskUsage& usage) {
  auto trees = text::Json::list();
  for (const auto& tree : usage.trees) {
    trees.add(text::Json::object()
                  .set("id", tree.id)
                  .set("names", text::Json::list(tree.names))
                  .set("files", tree.files)
                  .set("bytes", tree.bytes)
                  .set("own_bytes", tree.own_bytes));
  }
  return text::Json::object()
      .set("schema", "cukit.du/1")
      .set("home", home.root.string())
      .set("trees", trees)
      .set("store_bytes", usage.store)
      .set("trees_bytes", usage.all_trees)
      .set("shared_bytes", usage.shared)
      .set("cache_bytes", usage.cache)
      .set("downloads_bytes", usage.downloads)
      .set("staging_bytes", usage.staging)
      .set("reports_bytes", usage.reports)
      .set("total_bytes", usage.total)
      .set("damaged", errors_json(usage.damaged));
}

Result<int> run_du(Invocation& invocation) {
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  CUKIT_TRY_ASSIGN(const auto usage, home::disk_usage(home, invocation.stop));
  if (invocation.options.json) {
    print_json(usage_json(home, usage));
    return report_damaged(invocation, usage.damaged);
  }
  ui::Table table;
  table.row({"names", "size", "alone", "files", "tree"},
            std::vector<ui::Style>(5, ui::Style::bold));
  for (const auto& tree : usage.trees) {
    table.row({tree.names.empty() ? "(no name)" : join(tree.names, " "), human_bytes(tree.bytes),
               human_bytes(tree.own_bytes), fmt::format("{}", tree.files), tree.id.substr(0, 16)},
              {ui::Style::accent});
  }
  ui::print(table.print(invocation.output(), ""));
  ui::print(fmt::format(
      "store {}, trees {}, saved by sharing {}, cache {} (downloads {}), in progress {}, "
      "reports {}\n"
      "{} in {}\n",
      human_bytes(usage.store), human_bytes(usage.all_trees), human_bytes(usage.shared),
      human_bytes(usage.cache), human_bytes(usage.downloads), human_bytes(usage.staging),
      human_bytes(usage.reports), human_bytes(usage.total), printable(home.root.string())));
  return report_damaged(invocation, usage.damaged);
}

int finish(Invocation& invocation, const Result<void>& result) {
  return result ? 0 : report(invocation, result.error());
}

} // namespace

void register_gc(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto* gc = commands.add(
      "gc", "Remove trees that no generation has, and what only they need; says first what goes",
      [options](Invocation& invocation) {
        return finish(invocation, run_gc(invocation, *options));
      });
  gc->add_option("--older-than", options->older_than,
                 "Drop generations that were made longer ago; never the current one")
      ->type_name("AGE");
  gc->add_option_function<int>(
        "--keep",
        [options](int number) {
          options->keep = number;
          options->has_keep = true;
        },
        "Drop all but the newest N generations of each name; never the current one")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  gc->add_option("--name", options->name,
                 "Only of this name; without --older-than and --keep the name as a whole")
      ->type_name("NAME");
  gc->add_option("--staging-age", options->staging_age,
                 "Leave what a dead run left alone until it is that old (1h); reports that no "
                 "generation has, too")
      ->type_name("AGE");
  gc->add_option("--download-age", options->download_age,
                 "Leave a download that may be resumed alone until it is that old (7d)")
      ->type_name("AGE");
  gc->add_flag("--dry-run", options->dry_run, "Only say what would go");
  commands.add("du", "Where the bytes are: per tree, shared, store and cache",
               [](Invocation& invocation) {
                 const auto code = run_du(invocation);
                 return code ? *code : report(invocation, code.error());
               });
}

} // namespace cukit::cmd
