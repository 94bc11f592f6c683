#include "base/strings.hpp"
#include "base/utc.hpp"
#include "commands/summary.hpp"
#include "lock/head.hpp"
#include "names/mend.hpp"
#include "store/system_store.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

namespace cukit::cmd {

namespace {

/// One generation of a name, or a tree that no name has.
struct Row {
  std::string name; ///< empty: no name
  names::Generation generation;
  bool current = false;
  std::string release;
  std::string gpus;
  std::optional<assemble::Tree> tree; ///< empty: gone, or not readable
  fs::path path;
};

std::string day(std::int64_t seconds) {
  const auto text = utc_text(seconds);
  return text.substr(0, text.find('T'));
}

/// Not held: each hold needs a descriptor, and a process has 1,024 of them.
Result<assemble::Tree> look_at(const fs::path& path) {
  CUKIT_TRY_ASSIGN(auto tree, assemble::open_tree(path));
  tree.hold.reset();
  return tree;
}

Row row_of(const store::Home& home, const std::string& name, names::Generation generation) {
  Row row;
  row.name = name;
  row.path = home.tree(generation.tree);
  if (store::check_use(home, row.path)) {
    if (auto tree = look_at(row.path)) {
      row.tree = std::move(*tree);
    }
  }
  if (const auto lock = lock::read_head(generation.lock, "the lock of " + name)) {
    std::vector<std::string> gpus;
    for (const auto& gpu : lock->gpus) {
      gpus.push_back(gpu.sm());
    }
    row.gpus = join(gpus, " ");
    row.release = lock->release.text();
  }
  row.generation = std::move(generation);
  return row;
}

/// What cannot be read of a name is told in `damaged`; the others are listed all the same.
Result<void> add_names(const store::Home& home, std::vector<Row>& rows,
                       std::vector<Error>& damaged) {
  CUKIT_TRY_ASSIGN(const auto all, names::list(home));
  for (const auto& name : all) {
    const auto current = names::current(home, name);
    const int number = current && *current ? (*current)->number : 0;
    auto generations = names::readable_generations(home, name, damaged);
    for (auto it = generations.rbegin(); it != generations.rend(); ++it) {
      rows.push_back(row_of(home, name, std::move(*it)));
      rows.back().current = rows.back().generation.number == number;
    }
  }
  return {};
}

/// A tree that no name has, or what stands in the place of one.
void add_nameless(const store::Home& home, const std::string& id, std::vector<Row>& rows,
                  std::vector<Error>& damaged) {
  auto tree = look_at(home.trees() / id);
  if (!tree) {
    if (path_exists(home.trees() / id)) { // no gc was here
      damaged.push_back(std::move(tree).error());
    }
    return;
  }
  Row row;
  row.release = tree->release.text();
  row.path = tree->path;
  row.tree = std::move(*tree);
  rows.push_back(std::move(row));
}

Result<std::vector<Row>> rows(const store::Home& home, std::vector<Error>& damaged) {
  std::vector<Row> result;
  CUKIT_TRY(add_names(home, result, damaged));
  std::set<std::string> seen;
  for (const auto& row : result) {
    seen.insert(row.generation.tree);
  }
  if (folder_exists(home.trees())) {
    CUKIT_TRY_ASSIGN(const auto ids, list_directory(home.trees()));
    for (const auto& id : ids) {
      if (!seen.contains(id)) {
        add_nameless(home, id, result, damaged);
      }
    }
  }
  return result;
}

text::Json generation_json(const Row& row) {
  return text::Json::object()
      .set("number", row.generation.number)
      .set("current", row.current)
      .set("made", row.generation.made)
      .set("manifest", row.generation.manifest)
      .set("release", row.release)
      .set("tree", row.path.string())
      .set("present", row.tree.has_value());
}

/// `siblings`: the rows of the same name.
text::Json toolkit_json(const Row& row, const std::vector<const Row*>& siblings) {
  auto components = text::Json::object();
  auto tree = text::Json();
  if (row.tree) {
    tree = tree_json(*row.tree, row.name);
    for (const auto& [name, version] : row.tree->components) {
      components.set(name, version);
    }
  }
  auto generations = text::Json::list();
  for (const auto* other : siblings) {
    generations.add(generation_json(*other));
  }
  return text::Json::object()
      .set("name", row.name)
      .set("generation", row.generation.number)
      .set("release", row.release)
      .set("tree", tree)
      .set("components", components)
      .set("generations", generations);
}

void print_table(const Invocation& invocation, const std::vector<Row>& all) {
  ui::Table table;
  table.row({"name", "gen", "made", "CUDA", "nvcc", "ptxas", "GPUs", "tree"},
            std::vector<ui::Style>(8, ui::Style::bold));
  for (const auto& row : all) {
    const auto version = [&](const std::string& component) {
      const auto found = row.tree ? row.tree->components.find(component)
                                  : std::map<std::string, std::string>::const_iterator();
      return !row.tree || found == row.tree->components.end() ? std::string("-") : found->second;
    };
    const auto ptxas = version("ptxas");
    const bool named = !row.name.empty();
    table.row({!named ? "(no name)" : (row.current ? row.name : ""),
               !named ? "-" : fmt::format("{}{}", row.generation.number, row.current ? " *" : ""),
               !named ? "-" : day(row.generation.made), row.release, version("nvcc"),
               ptxas == "-" ? version("nvcc") : ptxas, row.gpus,
               printable(row.path.string()) + (row.tree                ? ""
                                               : path_exists(row.path) ? " (damaged)"
                                                                       : " (gone)")},
              {row.current ? ui::Style::accent : ui::Style::dim});
  }
  ui::print(table.print(invocation.output(), ""));
}

/// The current generation of a name comes before its others.
void put_current_first(std::vector<Row>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
    return a.name == b.name && a.current && !b.current;
  });
}

int run_list(Invocation& invocation) {
  const auto home = invocation.home();
  if (!home) {
    return report(invocation, home.error());
  }
  std::vector<Error> damaged;
  auto all = rows(*home, damaged);
  if (!all) {
    return report(invocation, all.error());
  }
  if (invocation.options.json) {
    std::map<std::string, std::vector<const Row*>> by_name;
    for (const auto& row : *all) {
      if (!row.name.empty()) {
        by_name[row.name].push_back(&row);
      }
    }
    auto toolkits = text::Json::list();
    for (const auto& row : *all) {
      if (row.current || row.name.empty()) {
        toolkits.add(toolkit_json(row, by_name[row.name]));
      }
    }
    print_json(text::Json::object()
                   .set("schema", "cukit.list/1")
                   .set("home", home->root.string())
                   .set("toolkits", toolkits)
                   .set("damaged", errors_json(damaged)));
    return damaged.empty() ? 0 : static_cast<int>(damaged.front().code);
  }
  if (all->empty() && damaged.empty()) {
    ui::print(fmt::format("no toolkit in {} yet; run `cukit up MANIFEST`\n",
                          printable(home->root.string())));
    return 0;
  }
  put_current_first(*all);
  print_table(invocation, *all);
  return report_damaged(invocation, damaged);
}

} // namespace

void register_list(Commands& commands) {
  commands.add("list", "The toolkits that are here, with their generations (* is the current one)",
               run_list);
}

} // namespace cukit::cmd
