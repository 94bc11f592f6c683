#include "base/strings.hpp"
#include "commands/summary.hpp"
#include "lock/lock.hpp"
#include "names/names.hpp"

#include <cstdio>
#include <set>

namespace cukit::cmd {

namespace {

struct Row {
  std::string name;
  int generation = 0;
  std::string release;
  std::string gpus;
  assemble::Tree tree;
};

Result<std::vector<Row>> rows(const store::Home& home) {
  std::vector<Row> result;
  std::set<std::string> seen;
  CUKIT_TRY_ASSIGN(const auto all, names::list(home));
  for (const auto& name : all) {
    CUKIT_TRY_ASSIGN(const auto generation, names::current(home, name));
    if (!generation) {
      continue;
    }
    CUKIT_TRY_ASSIGN(auto tree, assemble::open_tree(home.trees() / generation->tree));
    CUKIT_TRY_ASSIGN(const auto lock, lock::read(generation->lock, "the lock of " + name));
    std::vector<std::string> gpus;
    for (const auto& gpu : lock.gpus) {
      gpus.push_back(gpu.sm());
    }
    seen.insert(generation->tree);
    result.push_back(
        Row{name, generation->number, tree.release.text(), join(gpus, " "), std::move(tree)});
  }
  if (folder_exists(home.trees())) {
    CUKIT_TRY_ASSIGN(const auto ids, list_directory(home.trees()));
    for (const auto& id : ids) {
      if (!seen.contains(id)) {
        CUKIT_TRY_ASSIGN(auto tree, assemble::open_tree(home.trees() / id));
        result.push_back(Row{"", 0, tree.release.text(), "", std::move(tree)});
      }
    }
  }
  return result;
}

int run_list(Invocation& invocation) {
  const auto home = store::find_home(invocation.environment);
  if (!home) {
    return report(invocation, home.error());
  }
  const auto all = rows(*home);
  if (!all) {
    return report(invocation, all.error());
  }
  if (invocation.options.json) {
    auto toolkits = text::Json::list();
    for (const auto& row : *all) {
      auto components = text::Json::object();
      for (const auto& [name, version] : row.tree.components) {
        components.set(name, version);
      }
      toolkits.add(text::Json::object()
                       .set("name", row.name)
                       .set("generation", row.generation)
                       .set("release", row.release)
                       .set("tree", tree_json(row.tree, row.name))
                       .set("components", components));
    }
    print_json(text::Json::object()
                   .set("schema", "cukit.list/1")
                   .set("home", home->root.string())
                   .set("toolkits", toolkits));
    return 0;
  }
  if (all->empty()) {
    std::fputs(
        fmt::format("no toolkit in {} yet; run `cukit up MANIFEST`\n", home->root.string()).c_str(),
        stdout);
    return 0;
  }
  ui::Table table;
  table.row({"name", "CUDA", "nvcc", "ptxas", "GPUs", "tree"},
            std::vector<ui::Style>(6, ui::Style::bold));
  for (const auto& row : *all) {
    const auto version = [&](const std::string& component) {
      const auto found = row.tree.components.find(component);
      return found == row.tree.components.end() ? std::string("-") : found->second;
    };
    const auto ptxas = version("ptxas");
    table.row({row.name.empty() ? "(no name)" : row.name, row.release, version("nvcc"),
               ptxas == "-" ? version("nvcc") : ptxas, row.gpus, row.tree.path.string()},
              {ui::Style::accent});
  }
  std::fputs(table.print(*invocation.terminal, "").c_str(), stdout);
  return 0;
}

} // namespace

void register_list(Commands& commands) {
  commands.add("list", "The toolkits that are here", run_list);
}

} // namespace cukit::cmd
