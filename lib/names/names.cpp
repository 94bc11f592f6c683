// On disk: names/<name>/gen/<n>/tree    the tree's id and a line feed
//          names/<name>/gen/<n>/lock    the lock, as it was
//          names/<name>/gen/<n>/report  the report's key and a line feed, or nothing
//          names/<name>/gen/<n>/manifest  the path of the manifest and a line feed, or nothing; a
//                                       cukit before this one wrote no such file
//          names/<name>/current         a symbolic link to gen/<n>
// A generation is filled in staging/ and appears by one rename, so one that is there is whole;
// a new one has a higher number than all that are there.
#include "base/log.hpp"
#include "names/folder.hpp"
#include "names/mend.hpp"
#include "store/system_store.hpp"

#include <algorithm>

namespace cukit::names {

namespace {

/// Fills `folder` and makes it durable before anything can refer to it.
Result<void> write_generation(const fs::path& folder, const Generation& next, bool durable) {
  CUKIT_TRY(make_directories(folder));
  const auto line = [](const std::string& text) { return text.empty() ? "" : text + "\n"; };
  const std::pair<const char*, std::string> files[] = {{"tree", line(next.tree)},
                                                       {"lock", next.lock},
                                                       {"report", line(next.report)},
                                                       {"manifest", line(next.manifest)}};
  for (const auto& [name, content] : files) {
    CUKIT_TRY(create_file(folder / name, content));
    CUKIT_TRY(durable ? sync_file(folder / name) : Result<void>());
  }
  return durable ? sync_directory(folder) : Result<void>();
}

/// Moves the generation to the first free number. Somebody else may take a number meanwhile.
Result<int> place_generation(const fs::path& filled, const fs::path& folder, bool durable) {
  const fs::path generations = folder / "gen";
  CUKIT_TRY_ASSIGN(const auto found, numbers(folder));
  int number = found.empty() ? 0 : found.back();
  while (true) {
    ++number;
    CUKIT_TRY_ASSIGN(const bool placed,
                     rename_no_replace(filled, generations / std::to_string(number)));
    if (placed) {
      CUKIT_TRY(durable ? sync_directory(generations) : Result<void>());
      return number;
    }
  }
}

} // namespace

Result<std::vector<std::string>> list(const store::Home& home) {
  if (!is_directory(home.names())) {
    return std::vector<std::string>();
  }
  CUKIT_TRY_ASSIGN(auto names, list_directory(home.names()));
  std::erase_if(names, [&](const std::string& name) {
    return !is_toolkit_name(name) || !path_exists(home.names() / name / "current");
  });
  return names;
}

Result<std::optional<Generation>> current(const store::Home& home, const std::string& name) {
  CUKIT_TRY(check_name(name));
  const fs::path folder = home.names() / name;
  CUKIT_TRY(store::check_use(home, folder));
  CUKIT_TRY_ASSIGN(const int number, current_number(folder));
  if (number == 0) {
    return std::optional<Generation>();
  }
  CUKIT_TRY_ASSIGN(auto generation, read_generation(folder, number));
  return std::optional<Generation>(std::move(generation));
}

Result<bool> has_generation(const store::Home& home, const std::string& name,
                            const Generation& wanted) {
  const auto is_it = [&](const Generation& one) {
    return same_toolkit(one, wanted) && one.report == wanted.report;
  };
  const auto now = current(home, name);
  if (now && *now && is_it(**now)) { // the usual case reads one generation
    return true;
  }
  std::vector<Error> damaged; // `list` and `verify` name it
  const auto all = readable_generations(home, name, damaged);
  return std::any_of(all.begin(), all.end(), is_it);
}

Result<bool> switch_to(const store::Home& home, const std::string& name, const Generation& next,
                       store::Durability durability) {
  CUKIT_TRY(check_name(name));
  // A current generation that cannot be read is as good as none: the switch mends it.
  const auto read = current(home, name);
  const auto now = read ? *read : std::nullopt;
  if (now && same_toolkit(*now, next)) {
    CUKIT_TRY_ASSIGN(const bool is_known, has_generation(home, name, next));
    if (is_known) {
      return false;
    }
  }
  const fs::path folder = home.names() / name;
  CUKIT_TRY(store::prepare(home)); // a tree of the system store needs nothing else of this home
  CUKIT_TRY(check_place(folder));
  CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, name));
  CUKIT_TRY(make_directories(folder / "gen"));
  const bool durable = durability == store::Durability::full;
  if (durable) {
    CUKIT_TRY(sync_directory(home.names()));
    CUKIT_TRY(sync_directory(folder)); // `current` must never be on disk without gen/
  }
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
  CUKIT_TRY(write_generation(staging.path() / "generation", next, durable));
  CUKIT_TRY_ASSIGN(const int number,
                   place_generation(staging.path() / "generation", folder, durable));
  CUKIT_TRY(point_at(folder, number, staging.path(), durable));
  log_decision("names", "generation {} of {} is current: tree {}", number, name, next.tree);
  return true;
}

} // namespace cukit::names
