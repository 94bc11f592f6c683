#include "names/mend.hpp"

#include "base/stale.hpp"
#include "names/folder.hpp"
#include "store/system_store.hpp"

#include <unistd.h>

namespace cukit::names {

namespace {

/// With the name locked. `current` goes first, so that it never leads to nothing.
Result<void> drop(const store::Home& home, const fs::path& folder, int number) {
  const fs::path current = folder / "current";
  if (current_number(folder).value_or(0) == number &&
      look_twice([&] { return ::unlink(current.c_str()); }) != 0) {
    return fail_errno(errno, "cannot remove {}", current.string());
  }
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
  CUKIT_TRY(rename_path(folder / "gen" / std::to_string(number), staging.path() / "dropped"));
  return sync_directory(folder / "gen");
}

/// With the name locked: `current` is no link of ours.
Result<void> mend_current(const store::Home& home, const fs::path& folder) {
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
  CUKIT_TRY_ASSIGN(const auto found, numbers(folder));
  for (auto number = found.rbegin(); number != found.rend(); ++number) {
    if (read_generation(folder, *number)) {
      return point_at(folder, *number, staging.path());
    }
  }
  return path_exists(folder / "current")
             ? rename_path(folder / "current", staging.path() / "dropped")
             : Result<void>();
}

void find_in(const fs::path& folder, const std::string& name, std::vector<Damaged>& result) {
  const auto found = numbers(folder);
  if (!found) {
    result.push_back({.name = name, .number = 0, .path = folder, .why = found.error()});
    return;
  }
  if (const auto current = current_number(folder); !current) {
    result.push_back(
        {.name = name, .number = 0, .path = folder / "current", .why = current.error()});
  }
  for (const int number : *found) {
    const auto place = folder / "gen" / std::to_string(number);
    const auto generation = read_generation(folder, number);
    if (!generation && !is_cut_off(folder, number) && path_exists(place)) {
      result.push_back({.name = name, .number = number, .path = place, .why = generation.error()});
    }
  }
}

} // namespace

Result<int> drop_cut_off(const store::Home& home) {
  int dropped = 0;
  CUKIT_TRY_ASSIGN(const auto names, list_all(home));
  for (const auto& name : names) {
    const fs::path folder = home.names() / name;
    if (!check_place(folder)) {
      continue; // find_damaged() names it
    }
    CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, name));
    CUKIT_TRY_ASSIGN(const auto found, numbers(folder));
    for (const int number : found) {
      if (is_cut_off(folder, number)) {
        CUKIT_TRY(drop(home, folder, number));
        ++dropped;
      }
    }
  }
  return dropped;
}

Result<std::vector<Damaged>> find_damaged(const store::Home& home) {
  std::vector<Damaged> result;
  CUKIT_TRY_ASSIGN(const auto names, list_all(home));
  for (const auto& name : names) {
    find_in(home.names() / name, name, result);
  }
  return result;
}

std::vector<Generation> readable_generations(const store::Home& home, const std::string& name,
                                             std::vector<Error>& damaged) {
  const fs::path folder = home.names() / name;
  if (auto safe = store::check_use(home, folder); !safe) {
    damaged.push_back(std::move(safe).error());
    return {};
  }
  std::vector<Damaged> found;
  find_in(folder, name, found);
  for (auto& one : found) {
    damaged.push_back(std::move(one.why));
  }
  std::vector<Generation> result;
  for (const int number : numbers(folder).value_or(std::vector<int>())) {
    if (auto generation = read_generation(folder, number)) {
      result.push_back(*std::move(generation));
    }
  }
  return result;
}

fs::path lock_path(const store::Home& home, const std::string& name, int number) {
  return home.names() / name / "gen" / std::to_string(number) / "lock";
}

Result<void> drop_damaged(const store::Home& home, const Damaged& damaged, bool is_certain) {
  const fs::path folder = home.names() / damaged.name;
  CUKIT_TRY(check_place(folder)); // a link stays: what it leads to is not ours
  CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, damaged.name));
  if (damaged.number == 0) {
    return current_number(folder) ? Result<void>() : mend_current(home, folder);
  }
  // Somebody may have been faster.
  const bool is_whole = !is_certain && read_generation(folder, damaged.number);
  return is_whole || !path_exists(damaged.path) ? Result<void>()
                                                : drop(home, folder, damaged.number);
}

} // namespace cukit::names
