#include "names/mend.hpp"

#include "base/stale.hpp"
#include "names/folder.hpp"

#include <unistd.h>

namespace cukit::names {

namespace {

/// With the name locked. `current` goes first, so that it never leads to nothing.
Result<bool> drop_when_cut_off(const store::Home& home, const fs::path& folder, int number) {
  const auto generation = read_generation(folder, number);
  if (generation || generation.error().code != ErrorCode::integrity) {
    return false;
  }
  const fs::path current = folder / "current";
  if (current_number(folder).value_or(0) == number &&
      look_twice([&] { return ::unlink(current.c_str()); }) != 0) {
    return fail_errno(errno, "cannot remove {}", current.string());
  }
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
  CUKIT_TRY(rename_path(folder / "gen" / std::to_string(number), staging.path() / "dropped"));
  CUKIT_TRY(sync_directory(folder / "gen"));
  return true;
}

} // namespace

Result<int> drop_cut_off(const store::Home& home) {
  int dropped = 0;
  CUKIT_TRY_ASSIGN(const auto names, list_all(home));
  for (const auto& name : names) {
    const fs::path folder = home.names() / name;
    CUKIT_TRY_ASSIGN(const auto guard, lock_name(home, name));
    CUKIT_TRY_ASSIGN(const auto found, numbers(folder));
    for (const int number : found) {
      CUKIT_TRY_ASSIGN(const bool gone, drop_when_cut_off(home, folder, number));
      dropped += gone ? 1 : 0;
    }
  }
  return dropped;
}

} // namespace cukit::names
