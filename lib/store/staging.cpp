// A staging folder is garbage when the lock inside it is free. Two locks in locks/ close the gaps
// around that rule:
//   staging        held (shared) while a folder is made and its own lock taken, so that a sweep
//   never sees the moment between
//                  the two; held exclusively only while the sweep tries the locks;
//   staging-sweep  one sweep at a time, so that two do not remove the same folder.
#include "base/kept_file.hpp"
#include "store/home_check.hpp"

#include <algorithm>
#include <ctime>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace cukit::store {

namespace {

constexpr const char* k_lock_name = ".lock";

// On a network file system a lock of another machine may not be seen; nothing cukit does takes
// longer than this.
constexpr std::chrono::hours k_network_age{24};

bool is_network(const fs::path& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) {
    return false;
  }
  // From linux/magic.h and the file systems' own sources: nfs, smb, cifs, smb2, ceph, lustre, gpfs.
  for (const unsigned magic :
       {0x6969U, 0x517BU, 0xFF534D42U, 0xFE534D42U, 0x00C36400U, 0x0BD00BD0U, 0x47504653U}) {
    if (static_cast<unsigned>(info.f_type) == magic) {
      return true;
    }
  }
  return false;
}

/// Seconds since 1970 of the last sign of life; of what is gone 0.
std::int64_t last_touch(const fs::path& folder) {
  struct stat info {};
  std::int64_t last = 0;
  for (const auto& path : {folder, folder / k_lock_name, folder / "files", folder / "tree"}) {
    last = ::lstat(path.c_str(), &info) == 0 ? std::max<std::int64_t>(last, info.st_mtime) : last;
  }
  return last;
}

/// As Staging::create() makes it; anything else was never held by anybody.
bool is_lock(const fs::path& file) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
         (info.st_mode & 0600U) == 0600U;
}

/// True when nobody holds the folder: whoever made it is dead, so nobody will lock it again. What
/// is no folder with a lock is rubbish, and one that cannot be looked at stays.
bool is_free(const Home& home, const fs::path& folder) {
  const fs::path file = folder / k_lock_name;
  if (!is_kept_folder(folder) || !is_lock(file)) {
    return true;
  }
  // Shared: that fails while the maker lives, and does not write into the file, whose age counts.
  const auto own = FileLock::try_acquire(file, FileLock::Mode::shared, without_locks(home));
  if (!own) { // without the file its maker tidies the folder away at this moment
    return !path_exists(file);
  }
  return own->has_value();
}

} // namespace

Result<std::vector<fs::path>> abandoned(const Home& home, std::chrono::seconds age,
                                        std::int64_t now) {
  std::vector<fs::path> folders;
  CUKIT_TRY(check_home(home));
  CUKIT_TRY(check_kept_folder(home.staging()));
  if (!folder_exists(home.staging())) {
    return folders;
  }
  CUKIT_TRY_ASSIGN(const auto guard, lock(home, "staging", FileLock::Mode::exclusive, {}));
  CUKIT_TRY_ASSIGN(const auto names, list_directory(home.staging()));
  for (const auto& name : names) {
    const fs::path folder = home.staging() / name;
    // The age comes first, because trying the lock touches it.
    if (age.count() > 0 && now - last_touch(folder) <= age.count()) {
      continue;
    }
    if (is_free(home, folder)) {
      folders.push_back(folder);
    }
  }
  return folders;
}

Result<Staging> Staging::create(const Home& home) {
  CUKIT_TRY_ASSIGN(const auto guard, store::lock(home, "staging", FileLock::Mode::shared, {}));
  CUKIT_TRY_ASSIGN(auto directory, TempDirectory::create(home.staging(), ""));
  CUKIT_TRY_ASSIGN(auto own,
                   FileLock::acquire(directory.path() / k_lock_name, FileLock::Mode::exclusive, {},
                                     {}, without_locks(home)));
  return Staging(std::move(own), std::move(directory));
}

Result<std::vector<fs::path>> sweep(const Home& home, std::chrono::seconds age, std::int64_t now) {
  CUKIT_TRY(check_home(home));
  CUKIT_TRY(check_kept_folder(home.locks()));
  CUKIT_TRY(make_directories(home.locks()));
  CUKIT_TRY_ASSIGN(const auto only,
                   FileLock::try_acquire(home.locks() / "staging-sweep", FileLock::Mode::exclusive,
                                         without_locks(home)));
  if (!only) {
    return std::vector<fs::path>();
  }
  CUKIT_TRY_ASSIGN(auto folders, abandoned(home, age, now));
  std::optional<Error> first;
  for (const auto& folder : folders) { // what cannot be removed keeps nobody from the rest
    if (auto removed = remove_tree(folder); !removed && !first) {
      first = std::move(removed).error();
    }
  }
  if (first) {
    return tl::unexpected<Error>(*std::move(first));
  }
  return folders;
}

Result<int> sweep(const Home& home) {
  const std::chrono::seconds age = home.no_lock || is_network(home.staging())
                                       ? std::chrono::seconds(k_network_age)
                                       : std::chrono::seconds(0);
  CUKIT_TRY_ASSIGN(const auto folders, sweep(home, age, std::time(nullptr)));
  return static_cast<int>(folders.size());
}

} // namespace cukit::store
