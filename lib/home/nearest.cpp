#include "home/nearest.hpp"

#include "model/toolkit_name.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::home {

namespace {

std::optional<struct ::stat> look(const fs::path& path) {
  struct ::stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? std::optional(found) : std::nullopt;
}

bool is_same(const struct ::stat& a, const struct ::stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// A folder that something is mounted on, also one of the same file system (a bind mount). Where
/// the kernel does not say, the device tells.
bool is_mount_root(const fs::path& folder, const struct ::stat& own) {
  struct ::statx all = {};
  if (::statx(AT_FDCWD, folder.c_str(), AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &all) == 0 &&
      (all.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) {
    return (all.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  }
  const auto above = look(folder.parent_path());
  return !above || above->st_dev != own.st_dev;
}

} // namespace

std::optional<fs::path> nearest_manifest(const fs::path& folder, const fs::path& home) {
  const auto last = home.empty() ? std::nullopt : look(home);
  for (auto at = folder;; at = at.parent_path()) {
    const auto own = look(at);
    if (!own || own->st_uid != ::geteuid()) {
      return std::nullopt;
    }
    const auto file = look(at / k_usual_manifest);
    if (file && S_ISREG(file->st_mode) && file->st_uid == ::geteuid()) {
      return at / k_usual_manifest;
    }
    if ((last && is_same(*own, *last)) || at == at.root_path() || is_mount_root(at, *own)) {
      return std::nullopt;
    }
  }
}

} // namespace cukit::home
