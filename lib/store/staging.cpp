// A staging folder is garbage when the lock inside it is free. Two locks in locks/ close the gaps
// around that rule:
//   staging        held (shared) while a folder is made and its own lock taken, so that a sweep
//   never sees the moment between
//                  the two; held exclusively only while the sweep tries the locks;
//   staging-sweep  one sweep at a time, so that two do not remove the same folder.
#include "store/layout.hpp"

namespace cukit::store {

namespace {

constexpr const char* k_lock_name = ".lock";

/// The folders nobody holds. Whoever made them is dead, so nobody will lock them again.
Result<std::vector<fs::path>> abandoned(const Home& home) {
  CUKIT_TRY_ASSIGN(const auto guard, lock(home, "staging", FileLock::Mode::exclusive, {}));
  CUKIT_TRY_ASSIGN(const auto names, list_directory(home.staging()));
  std::vector<fs::path> folders;
  for (const auto& name : names) {
    const fs::path folder = home.staging() / name;
    const fs::path file = folder / k_lock_name;
    if (path_exists(file)) {
      CUKIT_TRY_ASSIGN(const auto own, FileLock::try_acquire(file, FileLock::Mode::exclusive));
      if (!own) {
        continue;
      }
    }
    folders.push_back(folder);
  }
  return folders;
}

} // namespace

Result<Staging> Staging::create(const Home& home) {
  CUKIT_TRY_ASSIGN(const auto guard, store::lock(home, "staging", FileLock::Mode::shared, {}));
  CUKIT_TRY_ASSIGN(auto directory, TempDirectory::create(home.staging(), ""));
  CUKIT_TRY_ASSIGN(auto own,
                   FileLock::acquire(directory.path() / k_lock_name, FileLock::Mode::exclusive));
  return Staging(std::move(own), std::move(directory));
}

Result<int> sweep(const Home& home) {
  CUKIT_TRY_ASSIGN(const auto only, FileLock::try_acquire(home.locks() / "staging-sweep",
                                                          FileLock::Mode::exclusive));
  if (!only) {
    return 0;
  }
  CUKIT_TRY_ASSIGN(const auto folders, abandoned(home));
  int removed = 0;
  for (const auto& folder : folders) {
    CUKIT_TRY(remove_tree(folder));
    ++removed;
  }
  return removed;
}

} // namespace cukit::store
