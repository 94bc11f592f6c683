#include "base/kept_file.hpp"

#include "base/stale.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace cukit {

namespace {

std::optional<struct stat> look_at(const fs::path& path) {
  struct stat info {};
  return look_twice([&] { return ::lstat(path.c_str(), &info); }) == 0 ? std::optional(info)
                                                                       : std::nullopt;
}

/// Why open() refused the path, in words where it is the kind of what stands there.
tl::unexpected<Error> cannot_open(int number, const fs::path& path) {
  // What each of the kinds gives: a link with O_NOFOLLOW, a socket or a pipe that nobody reads, a
  // folder that is to be written.
  if (number == ELOOP || number == ENXIO || number == EISDIR) {
    const auto info = look_at(path);
    if (info && !S_ISREG(info->st_mode)) {
      return tl::unexpected<Error>(other_kind(path, "a file"));
    }
  }
  return fail_errno(number, "cannot open {}", path.string());
}

} // namespace

std::string_view kind_of(unsigned mode) {
  switch (mode & S_IFMT) {
  case S_IFREG:
    return "a file";
  case S_IFDIR:
    return "a folder";
  case S_IFLNK:
    return "a link";
  case S_IFIFO:
    return "a pipe";
  case S_IFSOCK:
    return "a socket";
  default:
    return "a device";
  }
}

Error other_kind(const fs::path& path, std::string_view wanted) {
  const auto info = look_at(path);
  return Error{.code = ErrorCode::host,
               .message = fmt::format("{} is {}, not {}", path.string(),
                                      info ? kind_of(info->st_mode) : "gone", wanted),
               .hint = "look at what it is, and remove it or put back what stood there"};
}

Result<Fd> open_regular(const fs::path& path, int flags, unsigned mode) {
  const int fd = look_twice(
      [&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode); });
  if (fd < 0) {
    return cannot_open(errno, path);
  }
  Fd file(fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    return fail_errno(errno, "cannot look at {}", path.string());
  }
  if (!S_ISREG(info.st_mode)) {
    auto error = other_kind(path, "a file");
    error.message = fmt::format("{} is {}, not a file", path.string(), kind_of(info.st_mode));
    return tl::unexpected<Error>(std::move(error));
  }
  return file;
}

Result<Fd> open_kept(const fs::path& path, int flags, unsigned mode) {
  // Emptied only when it is known to be the right file.
  CUKIT_TRY_ASSIGN(Fd file, open_regular(path, (flags & ~O_TRUNC) | O_NOFOLLOW, mode));
  struct stat info {};
  if ((flags & O_ACCMODE) != O_RDONLY && ::fstat(file.get(), &info) == 0 && info.st_nlink > 1) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::host,
              .message = fmt::format("{} is also the file of another name, and is not written to",
                                     path.string()),
              .hint = "remove it, and run the same command again"});
  }
  if ((flags & O_TRUNC) != 0 && ::ftruncate(file.get(), 0) != 0) {
    return fail_errno(errno, "cannot empty {}", path.string());
  }
  return file;
}

bool is_kept_file(const fs::path& path) {
  const auto info = look_at(path);
  return info && S_ISREG(info->st_mode);
}

bool is_kept_folder(const fs::path& path) {
  const auto info = look_at(path);
  return info && S_ISDIR(info->st_mode);
}

Result<void> check_kept_folder(const fs::path& path) {
  const auto info = look_at(path);
  return !info || S_ISDIR(info->st_mode) ? Result<void>()
                                         : tl::unexpected<Error>(other_kind(path, "a folder"));
}

} // namespace cukit
