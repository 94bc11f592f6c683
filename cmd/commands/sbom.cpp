// `cukit sbom` and `cukit licences`: what a lock is made of, for those who must account for it.
#include "export/sbom.hpp"

#include "command_line.hpp"
#include "commands/locks.hpp"
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

Result<int> run_licences(Invocation& invocation, const std::string& toolkit) {
  CUKIT_TRY_ASSIGN(const auto found, find_lock(invocation, given_or_nearest(invocation, toolkit)));
  const auto rows = exports::licences(found.lock);
  if (invocation.options.json) {
    auto list = text::Json::list();
    for (const auto& row : rows) {
      auto files = text::Json::list();
      for (const auto& file : row.files) {
        files.add(file);
      }
      list.add(text::Json::object()
                   .set("component", row.component)
                   .set("version", row.version)
                   .set("licence", row.licence)
                   .set("files", files));
    }
    print_json(text::Json::object()
                   .set("schema", "cukit.licences/1")
                   .set("lock", found.name)
                   .set("redistribution", exports::k_redistribution)
                   .set("licences", list));
    return 0;
  }
  ui::Table table;
  for (const auto& row : rows) {
    table.row({row.component, row.version, row.licence.empty() ? "not stated" : row.licence},
              {ui::Style::bold, ui::Style::plain, ui::Style::plain});
  }
  ui::print(table.print(invocation.output()) + std::string(exports::k_redistribution) + "\n");
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
