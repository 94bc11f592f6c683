// Looking at the generations of a name, moving between them, and dropping them. What is dropped
// leaves names/ by one rename into staging/, so that nobody ever sees half a generation.
#include "base/kept_file.hpp"
#include "names/folder.hpp"
#include "store/system_store.hpp"

#include <algorithm>

namespace cukit::names {

namespace {

tl::unexpected<Error> no_generation(const std::string& name, const std::string& what) {
  return tl::unexpected<Error>(Error{.code = ErrorCode::expected_no,
                                     .message = fmt::format("{} has {}", name, what),
                                     .hint = "`cukit list` shows the generations there are"});
}

/// With the name locked: checks that the generation can be used and moves `current`.
Result<Switched> move_current(const store::Home& home, const std::string& name, int from,
                              int number) {
  const fs::path folder = home.names() / name;
  if (!folder_exists(folder / "gen" / std::to_string(number))) {
    return no_generation(name, fmt::format("no generation {}", number));
  }
  Switched result{.from = from, .to = {}};
  CUKIT_TRY_ASSIGN(result.to, read_generation(folder, number));
  if (!folder_exists(home.tree(result.to.tree))) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::expected_no,
              .message = fmt::format("the tree of generation {} of {} is gone", number, name),
              .where = home.tree(result.to.tree).string(),
              .hint = "`cukit up` with its manifest builds it again"});
  }
  if (from != number) {
    CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
    CUKIT_TRY(point_at(folder, number, staging.path()));
  }
  return result;
}

/// 0 also when `current` leads somewhere odd: a switch mends it.
int number_now(const fs::path& folder) {
  return current_number(folder).value_or(0);
}

/// The newest generation before `now` that stands for another toolkit. One that differs by its
/// report alone (validated again, or on another node) or not at all (an `up` after a rollback) is
/// passed over, and so is one that a power cut left empty.
Result<int> last_that_differs(const fs::path& folder, const std::string& name, int now) {
  CUKIT_TRY_ASSIGN(auto before, numbers(folder));
  std::erase_if(before, [&](int number) { return number >= now; });
  if (before.empty()) {
    return no_generation(name, "no generation before the current one");
  }
  const auto current = read_generation(folder, now);
  for (auto number = before.rbegin(); number != before.rend(); ++number) {
    const auto generation = read_generation(folder, *number);
    if (generation && (!current || !same_toolkit(*generation, *current))) {
      return *number;
    }
  }
  return no_generation(name, "no generation before the current one that differs from it");
}

} // namespace

bool same_toolkit(const Generation& a, const Generation& b) {
  return a.tree == b.tree && a.lock == b.lock;
}

Result<std::vector<std::string>> list_all(const store::Home& home) {
  if (!folder_exists(home.names())) {
    return std::vector<std::string>();
  }
  CUKIT_TRY_ASSIGN(auto names, list_directory(home.names()));
  std::erase_if(names, [&](const std::string& name) {
    return !is_toolkit_name(name) || !folder_exists(home.names() / name);
  });
  return names;
}

Result<std::vector<Generation>> generations(const store::Home& home, const std::string& name) {
  CUKIT_TRY(check_name(name));
  const fs::path folder = home.names() / name;
  CUKIT_TRY(store::check_use(home, folder));
  CUKIT_TRY_ASSIGN(const auto found, numbers(folder));
  std::vector<Generation> result;
  for (const int number : found) {
    CUKIT_TRY_ASSIGN(auto generation, read_whole_generation(folder, number));
    if (generation) {
      result.push_back(std::move(*generation));
    }
  }
  return result;
}

Result<std::optional<Generation>> read_whole_generation(const fs::path& folder, int number) {
  auto generation = read_generation(folder, number);
  if (generation) {
    return std::optional<Generation>(std::move(*generation));
  }
  if (!is_cut_off(folder, number) && path_exists(folder / "gen" / std::to_string(number))) {
    return tl::unexpected<Error>(std::move(generation.error()));
  }
  return std::optional<Generation>();
}

Result<Switched> make_current(const store::Home& home, const std::string& name, int number) {
  CUKIT_TRY(check_name(name));
  const fs::path folder = home.names() / name;
  if (!folder_exists(folder)) { // before anything is made for a name that was misspelt
    return no_generation(name, "no generation");
  }
  CUKIT_TRY(store::prepare(home));
  CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, name));
  CUKIT_TRY_ASSIGN(const auto found, numbers(folder));
  if (found.empty()) {
    return no_generation(name, "no generation");
  }
  return move_current(home, name, number_now(folder), number == 0 ? found.back() : number);
}

Result<Switched> roll_back(const store::Home& home, const std::string& name) {
  CUKIT_TRY(check_name(name));
  const fs::path folder = home.names() / name;
  if (!folder_exists(folder)) { // before anything is made for a name that was misspelt
    return no_generation(name, "no generation");
  }
  CUKIT_TRY(store::prepare(home));
  CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, name));
  CUKIT_TRY_ASSIGN(const int before, last_that_differs(folder, name, number_now(folder)));
  return move_current(home, name, number_now(folder), before);
}

Result<bool> drop_generation(const store::Home& home, const std::string& name, int number) {
  CUKIT_TRY(check_name(name));
  const fs::path folder = home.names() / name;
  CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, name));
  CUKIT_TRY(check_place(folder));
  if (number_now(folder) == number) {
    return false;
  }
  const fs::path generation = folder / "gen" / std::to_string(number);
  if (path_exists(generation)) {
    CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
    CUKIT_TRY(rename_path(generation, staging.path() / "dropped"));
    CUKIT_TRY(sync_directory(folder / "gen"));
  }
  return true;
}

Result<void> drop_name(const store::Home& home, const std::string& name) {
  CUKIT_TRY(check_name(name));
  CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, name));
  if (path_exists(home.names() / name)) {
    CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
    CUKIT_TRY(rename_path(home.names() / name, staging.path() / "dropped"));
    CUKIT_TRY(sync_directory(home.names()));
  }
  return {};
}

} // namespace cukit::names
