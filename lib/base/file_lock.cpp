#include "base/file_lock.hpp"

#include "base/kept_file.hpp"
#include "base/stale.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cukit {

namespace {

Result<bool> try_lock(const Fd& fd, const fs::path& path, FileLock::Mode mode,
                      FileLock::WithoutLocks without_locks) {
  const int operation = (mode == FileLock::Mode::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  while (::flock(fd.get(), operation) != 0) {
    if (errno == EWOULDBLOCK) {
      return false;
    }
    if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) {
      if (without_locks == FileLock::WithoutLocks::go_on) {
        return true;
      }
      auto error =
          errno_error(errno, fmt::format("this file system keeps no locks: {}", path.string()));
      error.hint = "point CUKIT_HOME at a local disk, or add --no-lock when nobody else uses it";
      return tl::unexpected<Error>(std::move(error));
    }
    if (errno != EINTR) {
      return fail_errno(errno, "cannot lock {}", path.string());
    }
  }
  if (mode == FileLock::Mode::exclusive) {
    const std::string pid = fmt::format("{}\n", ::getpid());
    // Only for the message of somebody who waits: a failure to write it harms nothing.
    if (::ftruncate(fd.get(), 0) == 0) {
      static_cast<void>(::pwrite(fd.get(), pid.data(), pid.size(), 0));
    }
  }
  return true;
}

/// Whether the path still leads to the file that was locked. Who removes a lock's file does so
/// while holding it, so whoever waited then holds what nobody else can find.
bool still_there(const Fd& fd, const fs::path& path) {
  struct stat held {};
  struct stat now {};
  return ::fstat(fd.get(), &held) == 0 &&
         look_twice([&] { return ::lstat(path.c_str(), &now); }) == 0 &&
         held.st_dev == now.st_dev && held.st_ino == now.st_ino;
}

Result<Fd> open_lock(const fs::path& path) {
  // Read and write also for a shared lock: NFSv4 maps flock to byte-range locks, which need the
  // mode.
  return open_kept(path, O_RDWR | O_CREAT, 0644);
}

int holder_of(const Fd& fd) {
  std::array<char, 32> text{};
  const ssize_t count = ::pread(fd.get(), text.data(), text.size() - 1, 0);
  return count > 0 ? std::atoi(text.data()) : 0;
}

} // namespace

Result<FileLock> FileLock::acquire(const fs::path& path, Mode mode, const std::stop_token& stop,
                                   const std::function<void(int)>& on_wait,
                                   WithoutLocks without_locks) {
  CUKIT_TRY_ASSIGN(Fd fd, open_lock(path));
  using namespace std::chrono_literals;
  auto pause = 1ms;
  auto waited = 0ms;
  bool told = false;
  while (true) {
    CUKIT_TRY_ASSIGN(const bool locked, try_lock(fd, path, mode, without_locks));
    if (locked && still_there(fd, path)) {
      return FileLock(std::move(fd));
    }
    if (locked) {
      CUKIT_TRY_ASSIGN(fd, open_lock(path));
      continue;
    }
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while waiting for {}", path.string());
    }
    if (!told && waited > 1s && on_wait) {
      on_wait(holder_of(fd));
      told = true;
    }
    std::this_thread::sleep_for(pause);
    waited += pause;
    pause = std::min<std::chrono::milliseconds>(pause * 2, 50ms);
  }
}

Result<std::optional<FileLock>> FileLock::try_acquire(const fs::path& path, Mode mode,
                                                      WithoutLocks without_locks) {
  while (true) {
    CUKIT_TRY_ASSIGN(Fd fd, open_lock(path));
    CUKIT_TRY_ASSIGN(const bool locked, try_lock(fd, path, mode, without_locks));
    if (!locked) {
      return std::optional<FileLock>();
    }
    if (still_there(fd, path)) {
      return std::optional<FileLock>(FileLock(std::move(fd)));
    }
  }
}

} // namespace cukit
