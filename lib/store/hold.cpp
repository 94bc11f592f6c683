#include "store/hold.hpp"

#include "base/stale.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace cukit::store {

namespace {

/// Empty: no such folder; a link to one is none.
Result<std::optional<Fd>> open_folder(const fs::path& folder) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = look_twice([&] { return ::open(folder.c_str(), flags); });
  if (fd >= 0) {
    return std::optional<Fd>(Fd(fd));
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
    return std::optional<Fd>();
  }
  return fail_errno(errno, "cannot open the folder {}", folder.string());
}

/// 0, or the number of what went wrong.
int lock_folder(const Fd& fd, int operation) {
  while (::flock(fd.get(), operation) != 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// The folder may have been moved away between being opened and being locked.
bool still_there(const Fd& fd, const fs::path& folder) {
  struct stat held {};
  struct stat now {};
  return ::fstat(fd.get(), &held) == 0 &&
         look_twice([&] { return ::lstat(folder.c_str(), &now); }) == 0 &&
         held.st_dev == now.st_dev && held.st_ino == now.st_ino;
}

bool keeps_no_locks(int number) {
  return number == ENOLCK || number == ENOSYS || number == EOPNOTSUPP || number == EBADF ||
         number == EINVAL || number == EISDIR;
}

} // namespace

Result<std::optional<FolderHold>> FolderHold::shared(const fs::path& folder) {
  CUKIT_TRY_ASSIGN(auto fd, open_folder(folder));
  if (!fd) {
    return std::optional<FolderHold>();
  }
  const int number = lock_folder(*fd, LOCK_SH);
  if (number != 0 && !keeps_no_locks(number)) {
    return fail_errno(number, "cannot lock the folder {}", folder.string());
  }
  return still_there(*fd, folder) ? std::optional<FolderHold>(FolderHold(std::move(*fd)))
                                  : std::nullopt;
}

Result<std::optional<FolderHold>> FolderHold::try_exclusive(const fs::path& folder,
                                                            FileLock::WithoutLocks without_locks) {
  CUKIT_TRY_ASSIGN(auto fd, open_folder(folder));
  if (!fd) {
    return std::optional<FolderHold>();
  }
  const int number = lock_folder(*fd, LOCK_EX | LOCK_NB);
  if (number == EWOULDBLOCK) {
    return std::optional<FolderHold>();
  }
  if (number != 0 && !(keeps_no_locks(number) && without_locks == FileLock::WithoutLocks::go_on)) {
    auto error =
        errno_error(number, fmt::format("cannot tell whether {} is in use", folder.string()));
    error.hint = "add --no-lock when no other cukit is at work there";
    return tl::unexpected<Error>(std::move(error));
  }
  return still_there(*fd, folder) ? std::optional<FolderHold>(FolderHold(std::move(*fd)))
                                  : std::nullopt;
}

Result<void> allow_move(const fs::path& folder) {
  struct stat info {};
  if (look_twice([&] { return ::lstat(folder.c_str(), &info); }) != 0) {
    return fail_errno(errno, "cannot look at {}", folder.string());
  }
  if (S_ISDIR(info.st_mode) && (info.st_mode & S_IWUSR) == 0 &&
      ::chmod(folder.c_str(), 0755) != 0) {
    return fail_errno(errno, "cannot change the mode of {}", folder.string());
  }
  return {};
}

Result<void> move_out(const fs::path& folder, const fs::path& to) {
  CUKIT_TRY(allow_move(folder));
  if (look_twice([&] { return ::rename(folder.c_str(), to.c_str()); }) == 0) {
    return {};
  }
  if (errno != EXDEV) {
    return fail_errno(errno, "cannot take {} away", folder.string());
  }
  // First what makes it an entry or a tree, so that a kill leaves nothing that looks whole.
  for (const char* mark : {"index", ".cukit"}) {
    CUKIT_TRY(remove_tree(folder / mark));
  }
  CUKIT_TRY(sync_directory(folder));
  return remove_tree(folder);
}

} // namespace cukit::store
