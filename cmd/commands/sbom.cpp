// `cukit sbom` and `cukit licences`: what a lock is made of, for those who must account for it.
#include "exports/sbom.hpp"

#include "base/strings.hpp"
#include "command_line.hpp"
#include "commands/locks.hpp"
#include "exports/distributable.hpp"
#include "source_date.hpp"

namespace cukit::cmd {

namespace {

struct SbomOptions {
  std::string toolkit;
  std::string format = "spdx";
  std::vector<std::string> platforms;
};

Result<int> run_sbom(Invocation& invocation, const SbomOptions& options) {
  CUKIT_TRY_ASSIGN(const auto format, exports::parse_sbom_format(options.format));
  CUKIT_TRY_ASSIGN(const auto platforms, parse_platforms(options.platforms));
  CUKIT_TRY_ASSIGN(const auto created, creation_time(invocation.environment));
  CUKIT_TRY_ASSIGN(const auto found,
                   find_lock(invocation, given_or_nearest(invocation, options.toolkit)));
  CUKIT_TRY_ASSIGN(const auto text, exports::write_sbom({.lock = found.lock,
                                                         .platforms = platforms,
                                                         .tool_version = CUKIT_VERSION,
                                                         .created = created},
                                                        format));
  ui::print_data(text);
  return 0;
}

/// Paths of the lock's tree that its licences list as distributable; nothing where it is not built
/// here.
Result<std::optional<std::vector<std::string>>> distributable(const Invocation& invocation,
                                                              const lock::Lock& lock) {
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  const auto* part = lock.find(Platform::host());
  const auto tree = part == nullptr
                        ? tl::unexpected<Error>(Error{})
                        : assemble::open_tree(home.tree(lock::tree_id(lock, *part).hex()));
  if (!tree) {
    return std::optional<std::vector<std::string>>();
  }
  CUKIT_TRY_ASSIGN(const auto listed, exports::distributable_files(*tree));
  CUKIT_TRY_ASSIGN(const auto files, assemble::list_files(*tree));
  std::vector<std::string> paths;
  for (const auto& file : files) {
    const auto& path = file.path.text();
    if (file.link.empty() && exports::is_distributable(path, listed)) {
      paths.push_back(path);
    }
  }
  return std::optional(std::move(paths));
}

Result<int> run_licences(Invocation& invocation, const std::string& toolkit) {
  CUKIT_TRY_ASSIGN(const auto found, find_lock(invocation, given_or_nearest(invocation, toolkit)));
  const auto rows = exports::licences(found.lock);
  CUKIT_TRY_ASSIGN(const auto may_go, distributable(invocation, found.lock));
  if (invocation.options.json) {
    auto list = text::Json::list();
    for (const auto& row : rows) {
      list.add(text::Json::object()
                   .set("component", row.component)
                   .set("version", row.version)
                   .set("licence", row.licence)
                   .set("files", text::Json::list(row.files)));
    }
    auto json = text::Json::object()
                    .set("schema", "cukit.licences/1")
                    .set("lock", found.name)
                    .set("redistribution", exports::k_redistribution)
                    .set("licences", list);
    if (may_go) {
      json.set("distributable", text::Json::list(*may_go));
    }
    print_json(json);
    return 0;
  }
  ui::Table table;
  for (const auto& row : rows) {
    table.row({row.component, row.version, row.licence.empty() ? "not stated" : row.licence},
              {ui::Style::bold, ui::Style::plain, ui::Style::plain});
  }
  auto out = table.print(invocation.output()) + std::string(exports::k_redistribution) + "\n";
  if (may_go && !may_go->empty()) {
    out += "listed there as distributable, with conditions (Attachment A):\n";
    for (const auto& path : *may_go) {
      out += "  " + printable(path) + "\n";
    }
  }
  ui::print(out);
  return 0;
}

} // namespace

void register_sbom(Commands& commands) {
  auto options = std::make_shared<SbomOptions>();
  auto* app = commands.add("sbom", "A bill of materials of a lock, on standard output",
                           [options](Invocation& invocation) {
                             const auto code = run_sbom(invocation, *options);
                             return code ? *code : report(invocation, code.error());
                           });
  app->add_option("TOOLKIT", options->toolkit,
                  "A lock, a manifest with a lock beside it, or a toolkit; default: of cukit.yaml "
                  "here or above, else the only one");
  app->add_option("--format", options->format, "spdx (2.3) or cyclonedx (1.5), both as JSON")
      ->type_name("NAME");
  add_platforms_option(*app, options->platforms);

  auto toolkit = std::make_shared<std::string>();
  auto* licences = commands.add("licences", "The licence of each component of a lock",
                                [toolkit](Invocation& invocation) {
                                  const auto code = run_licences(invocation, *toolkit);
                                  return code ? *code : report(invocation, code.error());
                                });
  licences->add_option("TOOLKIT", *toolkit,
                       "A lock, a manifest with a lock beside it, or a toolkit; default: of "
                       "cukit.yaml here or above, else the only one");
}

} // namespace cukit::cmd
