// A hold on an entry or a tree: a lock on the folder itself, so that it needs no file beside it and
// works in a store that one may only read. Users hold it shared as long as they rely on the folder;
// gc removes a folder only when it gets the lock alone. The lock dies with the process; children do
// not inherit it.
#pragma once

#include "base/file_lock.hpp"

#include <optional>

namespace cukit::store {

class FolderHold {
public:
  /// Waits for a gc that is looking at the folder (milliseconds). Empty: there is no such folder.
  /// Where the file system keeps no locks on folders nothing is held, and no gc will run there.
  static Result<std::optional<FolderHold>> shared(const fs::path& folder);
  /// For whoever wants to remove it. Empty: somebody uses it, or it is gone. Where the file system
  /// keeps no locks on folders an error, or with `go_on` as if nobody used it.
  static Result<std::optional<FolderHold>>
  try_exclusive(const fs::path& folder,
                FileLock::WithoutLocks without_locks = FileLock::WithoutLocks::refuse);

private:
  explicit FolderHold(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

/// A folder moves to another parent only while its owner may write it, and trees are read-only.
Result<void> allow_move(const fs::path& folder);
/// Takes a folder out of the store by one rename to `to`. Where it cannot be moved (a lower layer
/// of overlay) it is removed where it is.
Result<void> move_out(const fs::path& folder, const fs::path& to);

} // namespace cukit::store
