// `cukit releases`: what the recipes know of CUDA's releases, as tables.
#include "base/strings.hpp"
#include "cli.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

using knowledge::Component;
using knowledge::ReleaseTable;

/// A component's version in what one source has of a release; empty: it is not there.
std::string version_in(const ReleaseTable& table, const Component& component) {
  const auto look = [&](const std::string& name) {
    const auto found = table.components.find(name);
    return found == table.components.end() ? std::string() : found->second.text();
  };
  if (table.source == "wheels") {
    return look(component.project_of(table.release));
  }
  for (const auto& name : component.redist.names) {
    if (auto version = look(name); !version.empty()) {
      return version;
    }
  }
  return {};
}

text::Json json_of(const ReleaseTable& table, const std::vector<Component>& components) {
  auto versions = text::Json::object();
  for (const auto& component : components) {
    if (auto version = version_in(table, component); !version.empty()) {
      versions.set(component.name, std::move(version));
    }
  }
  return text::Json::object()
      .set("release", table.release.text())
      .set("source", table.source)
      .set("date", table.date)
      .set("evidence", table.evidence)
      .set("components", versions);
}

text::Json json_of(const knowledge::Release& release) {
  return text::Json::object()
      .set("cuda", release.minor.major_minor())
      .set("ptx", release.ptx.text())
      .set("driver_floor", release.driver_floor)
      .set("driver_branch", release.driver_branch)
      .set("cccl", release.cccl.text())
      .set("gcc_max", release.gcc_max)
      .set("clang_min", release.clang_min)
      .set("clang_max", release.clang_max)
      .set("evidence", release.evidence)
      .set("doubt", release.doubt);
}

std::string minors_text(const ui::Terminal& terminal,
                        const std::vector<knowledge::Release>& releases) {
  ui::Table table;
  table.row({"CUDA", "PTX", "least driver", "own driver", "CCCL", "gcc up to", "clang", "evidence"},
            std::vector<ui::Style>(8, ui::Style::bold));
  for (const auto& release : releases) {
    const auto doubt = release.doubt.empty() ? "" : fmt::format(", {}?", release.doubt);
    table.row({release.minor.major_minor(), release.ptx.text(),
               fmt::format("{}", release.driver_floor), fmt::format("{}", release.driver_branch),
               release.cccl.text(), fmt::format("{}", release.gcc_max),
               fmt::format("{}..{}", release.clang_min, release.clang_max),
               release.evidence + doubt},
              {ui::Style::accent});
  }
  return table.print(terminal, "") +
         "\n?: less sure than the rest of the line\n"
         "least driver: the branch that starts its programs\n"
         "own driver: the branch that takes its PTX too\n"
         "next: `cukit releases 13.0` lists its patches, `... 13.0.2` its components\n";
}

/// What each source has of the patch releases of a minor.
std::string patches_text(const ui::Terminal& terminal,
                         const std::vector<const ReleaseTable*>& tables,
                         const std::vector<Component>& components) {
  static constexpr std::string_view names[] = {"nvcc", "cudart", "nvrtc", "cccl", "cublas"};
  ui::Table table;
  std::vector<std::string> head{"release", "source", "date"};
  head.insert(head.end(), std::begin(names), std::end(names));
  table.row(head, std::vector<ui::Style>(head.size(), ui::Style::bold));
  for (const auto* one : tables) {
    std::vector<std::string> cells{one->release.text(), one->source,
                                   one->date.empty() ? "-" : one->date};
    for (const auto name : names) {
      const auto* component = knowledge::find_component(components, name);
      const auto version = component == nullptr ? "" : version_in(*one, *component);
      cells.push_back(version.empty() ? "-" : version);
    }
    table.row(std::move(cells), {ui::Style::accent, ui::Style::plain, ui::Style::dim});
  }
  return table.print(terminal, "");
}

/// Every component of one release, in each source that is known.
std::string components_text(const ui::Terminal& terminal,
                            const std::vector<const ReleaseTable*>& tables,
                            const std::vector<Component>& components) {
  ui::Table table;
  std::vector<std::string> head{"component"};
  for (const auto* one : tables) {
    head.push_back(one->source);
  }
  table.row(head, std::vector<ui::Style>(head.size(), ui::Style::bold));
  for (const auto& component : components) {
    std::vector<std::string> cells{component.name};
    for (const auto* one : tables) {
      const auto version = version_in(*one, component);
      cells.push_back(version.empty() ? "-" : version);
    }
    const bool is_there = std::any_of(cells.begin() + 1, cells.end(),
                                      [](const std::string& cell) { return cell != "-"; });
    if (is_there) {
      table.row(std::move(cells), {ui::Style::accent});
    }
  }
  return table.print(terminal, "");
}

Result<std::vector<const ReleaseTable*>> tables_of(const knowledge::Knowledge& knowledge,
                                                   const std::string& wanted) {
  CUKIT_TRY_ASSIGN(const auto* tables, knowledge.tables());
  CUKIT_TRY_ASSIGN(const auto range, VersionRange::parse_wish(wanted));
  std::vector<const ReleaseTable*> result;
  for (const auto& table : *tables) {
    if (range.contains(table.release)) {
      result.push_back(&table);
    }
  }
  if (result.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("the recipes know no release {} of CUDA", printable(wanted)),
              .hint = "`cukit releases` lists the minor releases, `cukit releases 13.0` the "
                      "patches of one"});
  }
  return result;
}

Result<int> print_minors(Invocation& invocation) {
  const auto knowledge = invocation.knowledge(); // the releases live as long as it does
  CUKIT_TRY_ASSIGN(const auto* releases, knowledge.releases());
  if (!invocation.options.json) {
    ui::print(minors_text(invocation.output(), *releases));
    return 0;
  }
  auto list = text::Json::list();
  for (const auto& release : *releases) {
    list.add(json_of(release));
  }
  print_json(text::Json::object().set("schema", "cukit.releases/1").set("releases", list));
  return 0;
}

Result<int> print_patches(Invocation& invocation, const std::string& wanted) {
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY_ASSIGN(const auto tables, tables_of(knowledge, wanted));
  CUKIT_TRY_ASSIGN(const auto* components, knowledge.components());
  if (invocation.options.json) {
    auto list = text::Json::list();
    for (const auto* table : tables) {
      list.add(json_of(*table, *components));
    }
    print_json(text::Json::object().set("schema", "cukit.releases/1").set("patches", list));
    return 0;
  }
  const bool is_one = std::all_of(tables.begin(), tables.end(), [&](const auto* table) {
    return table->release == tables.front()->release;
  });
  const auto terminal = invocation.output();
  ui::print(is_one ? components_text(terminal, tables, *components)
                   : patches_text(terminal, tables, *components));
  return 0;
}

} // namespace

void register_releases(Commands& commands) {
  auto wanted = std::make_shared<std::string>();
  auto* app =
      commands.add("releases", "CUDA releases: PTX, drivers, CCCL, host compilers, components",
                   [wanted](Invocation& invocation) {
                     const auto code = wanted->empty() ? print_minors(invocation)
                                                       : print_patches(invocation, *wanted);
                     return code ? *code : report(invocation, code.error());
                   });
  app->add_option("CUDA", *wanted, "The patch releases of this minor (13.0), or one (13.0.2)");
}

} // namespace cukit::cmd
