#include "assemble/placer.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::assemble {

namespace {

constexpr std::size_t k_copy_bytes = 1U << 20U;

tl::unexpected<Error> cannot_place(int number, const TreeFile& file) {
  return fail_errno(number, "cannot put {} into the tree", file.path.text());
}

/// Numbers that mean "this file system does not do that", not "this file is in trouble".
bool is_unsupported(int number) {
  switch (number) {
  case EXDEV:
  case EPERM: // also fs.protected_hardlinks: the store belongs to somebody else
  case EOPNOTSUPP:
  case EINVAL:
  case ENOTTY:
  case ENOSYS:
    return true;
  default:
    return false;
  }
}

Result<void> copy_by_hand(int from, int to, const TreeFile& file) {
  std::string buffer(k_copy_bytes, '\0');
  while (true) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      return cannot_place(errno, file);
    }
    if (count == 0) {
      return {};
    }
    CUKIT_TRY(write_all(to, std::string_view(buffer.data(), static_cast<std::size_t>(count))));
  }
}

Result<void> copy_in_kernel(int from, int to, const TreeFile& file) {
  std::uint64_t left = file.size;
  while (left > 0) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, 1U << 30U));
    const ssize_t count = ::copy_file_range(from, nullptr, to, nullptr, step, 0);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0 && is_unsupported(errno)) {
      return copy_by_hand(from, to, file);
    }
    if (count < 0) {
      return cannot_place(errno, file);
    }
    if (count == 0) { // some file systems of the kernel's own say 0 instead of refusing
      return copy_by_hand(from, to, file);
    }
    left -= static_cast<std::uint64_t>(count);
  }
  return {};
}

/// False when the file system has no reflinks.
Result<bool> reflink(int from, int to, const TreeFile& file) {
  if (::ioctl(to, FICLONE, from) == 0) {
    return true;
  }
  if (is_unsupported(errno)) {
    return false;
  }
  return cannot_place(errno, file);
}

Result<Fd> create_in(int folder_fd, const std::string& name, const TreeFile& file) {
  const int fd =
      ::openat(folder_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    return cannot_place(errno, file);
  }
  return Fd(fd);
}

Result<void> check_size(int fd, const TreeFile& file) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    return cannot_place(errno, file);
  }
  if (static_cast<std::uint64_t>(info.st_size) != file.size) {
    auto error = Error{.code = ErrorCode::integrity,
                       .message = fmt::format("{} has {} bytes in the store, not {}",
                                              file.path.text(), info.st_size, file.size),
                       .where = file.from.string()};
    error.hint = "run `cukit verify` to find what was changed";
    return tl::unexpected<Error>(std::move(error));
  }
  return {};
}

/// Bytes of the store in a file of its own. `way` goes down to copy when there are no reflinks.
Result<void> duplicate(const TreeFile& file, int folder_fd, const std::string& name,
                       Placer::Way& way) {
  CUKIT_TRY_ASSIGN(const Fd from, open_file(file.from, O_RDONLY | O_NOFOLLOW));
  CUKIT_TRY_ASSIGN(Fd to, create_in(folder_fd, name, file));
  bool done = false;
  if (way == Placer::Way::reflink) {
    CUKIT_TRY_ASSIGN(done, reflink(from.get(), to.get(), file));
    if (!done) {
      way = Placer::Way::copy;
    }
  }
  if (!done) {
    CUKIT_TRY(copy_in_kernel(from.get(), to.get(), file));
  }
  CUKIT_TRY(check_size(to.get(), file));
  CUKIT_TRY(seal_file(to.get(), file.executable));
  return to.close();
}

Result<void> write_content(const TreeFile& file, int folder_fd, const std::string& name) {
  CUKIT_TRY_ASSIGN(Fd to, create_in(folder_fd, name, file));
  CUKIT_TRY(write_all(to.get(), file.content));
  CUKIT_TRY(seal_file(to.get(), file.executable));
  return to.close();
}

} // namespace

Result<void> seal_file(int fd, bool executable) {
  const std::array<timespec, 2> one{{{1, 0}, {1, 0}}};
  if (::fchmod(fd, executable ? 0555 : 0444) != 0 || ::futimens(fd, one.data()) != 0) {
    return fail_errno(errno, "cannot set the mode and time of a file");
  }
  return {};
}

Result<void> Placer::place(const TreeFile& file, int folder_fd, const std::string& name) {
  if (file.from.empty()) {
    return write_content(file, folder_fd, name);
  }
  if (way_ == Way::hard_link) {
    if (::linkat(AT_FDCWD, file.from.c_str(), folder_fd, name.c_str(), 0) == 0) {
      return {};
    }
    const int number = errno;
    if (number == EMLINK) { // this one file has too many names; the next one may not
      Way once = Way::reflink;
      return duplicate(file, folder_fd, name, once);
    }
    if (!is_unsupported(number)) {
      return cannot_place(number, file);
    }
    way_ = Way::reflink;
  }
  return duplicate(file, folder_fd, name, way_);
}

} // namespace cukit::assemble
