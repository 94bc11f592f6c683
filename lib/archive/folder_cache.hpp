// Descriptors of the folders below one root, made on the way and kept open while they are in use,
// so that a file costs one openat. Private to archive/.
#pragma once

#include "base/fd.hpp"
#include "model/relative_path.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::archive {

/// A folder below `root`; no part of the path may be a link, `..` or a mount point. The kernel
/// checks all of it at once. Without openat2 (before Linux 5.6, or filtered in a container):
/// ErrorCode::host, and errno is ENOSYS or EPERM.
Result<Fd> open_beneath(int root, const std::string& path);
/// The same in steps, each without following a link.
Result<Fd> open_by_steps(int root, const std::string& path);
/// Whether open_beneath works here.
bool has_openat2(int root);

class FolderCache {
public:
  FolderCache(Fd root, std::string shown);
  /// The folder, created with its parents when it is not there yet. Safe from several threads.
  Result<std::shared_ptr<const Fd>> get(const RelativePath& folder);
  /// Sets the time stamp of every folder made, and of the root.
  Result<void> settle();
  [[nodiscard]] std::string shown(const RelativePath& path) const;

private:
  using Shared = std::shared_ptr<const Fd>;
  Result<Shared> get_locked(const RelativePath& folder);
  Result<Fd> make(const RelativePath& folder);
  void keep(const std::string& path, const Shared& fd);

  std::string shown_;
  Shared root_;
  bool openat2_;
  std::mutex mutex_; ///< guards what follows
  std::set<std::string, std::less<>> made_;
  std::vector<std::pair<std::string, Shared>> recent_;
  std::size_t oldest_ = 0;
};

} // namespace cukit::archive
