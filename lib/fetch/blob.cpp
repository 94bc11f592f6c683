#include "fetch/blob.hpp"

#include "fetch/part_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace cukit::fetch {

namespace {

/// 0, or the number of what went wrong.
int lock_file(const Fd& fd, int operation) {
  while (::flock(fd.get(), operation) != 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

} // namespace

Result<Blob> held_blob(const fs::path& path, std::uint64_t downloaded) {
  // For writing too: over NFS a lock that others must not have needs that.
  auto fd = open_file(path, O_RDWR | O_NOFOLLOW);
  if (!fd) {
    return tl::unexpected<Error>(std::move(fd.error()));
  }
  static_cast<void>(lock_file(*fd, LOCK_SH)); // without locks nobody else is at work, or all refuse
  return Blob{path, true, downloaded, std::make_shared<Fd>(std::move(*fd))};
}

bool is_held(const fs::path& file) {
  const Fd fd(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return fd.is_open() && lock_file(fd, LOCK_EX | LOCK_NB) == EWOULDBLOCK;
}

void let_go(Blob blob, FileLock::WithoutLocks without_locks) {
  if (!blob.owned || !blob.hold) {
    return;
  }
  // Whoever has the download's own lock is about to hold the file.
  const fs::path lock_path = blob.path.string() + k_lock_suffix;
  const auto lock = FileLock::try_acquire(lock_path, FileLock::Mode::exclusive, without_locks);
  if (!lock || !*lock) {
    return;
  }
  const int number = lock_file(*blob.hold, LOCK_EX | LOCK_NB);
  if (number == EWOULDBLOCK) {
    return; // the lock of the download stays for them
  }
  if (::unlink(blob.path.c_str()) == 0) {
    ::unlink(lock_path.c_str()); // who waits for it sees that it is gone and makes a new one
  }
}

} // namespace cukit::fetch
