// An advisory lock between processes (flock) on a file. Only who holds it exclusively may remove
// the file; who waited for it meanwhile makes a new one. The lock dies with the process, also with
// a killed one; children do not inherit it (O_CLOEXEC).
#pragma once

#include "base/files.hpp"

#include <functional>
#include <optional>
#include <stop_token>

namespace cukit {

class FileLock {
public:
  enum class Mode { shared, exclusive };
  /// What to do on a file system that keeps no locks (some network file systems): an error, or go
  /// on as if nobody else were at work.
  enum class WithoutLocks { refuse, go_on };

  /// Waits until the lock is free. `on_wait` is called once, after about a second, with the
  /// holder's process id as the file says it (0: unknown). A stop request ends the wait with
  /// ErrorCode::interrupted.
  static Result<FileLock> acquire(const fs::path& path, Mode mode, const std::stop_token& stop = {},
                                  const std::function<void(int holder)>& on_wait = {},
                                  WithoutLocks without_locks = WithoutLocks::refuse);
  /// Empty when somebody else holds it.
  static Result<std::optional<FileLock>>
  try_acquire(const fs::path& path, Mode mode, WithoutLocks without_locks = WithoutLocks::refuse);

private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

} // namespace cukit
