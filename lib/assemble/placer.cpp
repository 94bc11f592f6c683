#include "assemble/placer.hpp"

#include "base/kept_file.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::assemble {

namespace {

std::string what_cannot_be_done(const TreeFile& file) {
  return fmt::format("cannot put {} into the tree", file.path.text());
}

tl::unexpected<Error> cannot_place(int number, const TreeFile& file) {
  return fail_errno(number, "{}", what_cannot_be_done(file));
}

/// Numbers that mean "these file systems never do that", not "this file cannot have it".
bool is_never(int number) {
  return number == EXDEV || number == EOPNOTSUPP || number == ENOSYS || number == ENOTTY;
}

/// Numbers that leave the next way open for this one file: too many names (EMLINK), rules about
/// foreign files or an immutable one (EPERM, EACCES), a lock of the server or of a program that
/// runs (EAGAIN, ETXTBSY), a layout that cannot be shared (EINVAL).
bool is_for_this_file(int number) {
  return number == EMLINK || number == EPERM || number == EACCES || number == EAGAIN ||
         number == ETXTBSY || number == EINVAL;
}

Result<void> copy_in_kernel(int from, int to, const TreeFile& file) {
  std::uint64_t left = file.size;
  while (left > 0) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, 1U << 30U));
    const ssize_t count = ::copy_file_range(from, nullptr, to, nullptr, step, 0);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0 && (is_never(errno) || is_for_this_file(errno))) {
      return copy_bytes(from, to, what_cannot_be_done(file));
    }
    if (count < 0) {
      return cannot_place(errno, file);
    }
    if (count == 0) { // some file systems of the kernel's own say 0 instead of refusing
      return copy_bytes(from, to, what_cannot_be_done(file));
    }
    left -= static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<Fd> create_in(int folder_fd, const std::string& name, const TreeFile& file) {
  const int fd =
      ::openat(folder_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    return cannot_place(errno, file);
  }
  return Fd(fd);
}

/// What the store holds is the file that its index names, as far as can be told without reading it.
Result<void> check_found(const struct stat& info, const TreeFile& file) {
  std::string message;
  if (!S_ISREG(info.st_mode)) {
    message = fmt::format("{} is {} in the store", file.path.text(), kind_of(info.st_mode));
  } else if (static_cast<std::uint64_t>(info.st_size) != file.size) {
    message = fmt::format("{} has {} bytes in the store, not {}", file.path.text(), info.st_size,
                          file.size);
  } else {
    return {};
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::integrity,
            .message = std::move(message),
            .where = file.from.string(),
            .hint = "`cukit verify --repair` finds what was changed and fetches it again"});
}

Result<void> check_size(int fd, const TreeFile& file) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? check_found(info, file) : cannot_place(errno, file);
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

Result<bool> Placer::try_reflink(const TreeFile& file, int from, int folder_fd,
                                 const std::string& name, Ways& ways) {
  if (!ways.reflink) {
    return false;
  }
  CUKIT_TRY_ASSIGN(Fd to, create_in(folder_fd, name, file));
  if (::ioctl(to.get(), FICLONE, from) == 0) {
    CUKIT_TRY(check_size(to.get(), file));
    CUKIT_TRY(seal_file(to.get(), file.executable));
    CUKIT_TRY(to.close());
    ++counts_.reflinks;
    return true;
  }
  const int number = errno;
  if (::unlinkat(folder_fd, name.c_str(), 0) != 0) {
    return cannot_place(errno, file);
  }
  if (!is_never(number) && !is_for_this_file(number)) {
    return cannot_place(number, file);
  }
  ways.reflink = !is_never(number);
  return false;
}

Result<bool> Placer::try_hard_link(const TreeFile& file, int folder_fd, const std::string& name,
                                   Ways& ways) {
  if (!ways.hard_link) {
    return false;
  }
  if (::linkat(AT_FDCWD, file.from.c_str(), folder_fd, name.c_str(), 0) == 0) {
    struct stat info {};
    if (::fstatat(folder_fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      return cannot_place(errno, file);
    }
    CUKIT_TRY(check_found(info, file));
    ++counts_.hard_links;
    return true;
  }
  const int number = errno;
  if (!is_never(number) && !is_for_this_file(number)) {
    return cannot_place(number, file);
  }
  ways.hard_link = !is_never(number);
  counts_.why_copied = counts_.why_copied == 0 ? number : counts_.why_copied;
  return false;
}

Result<void> Placer::copy(const TreeFile& file, int from, int folder_fd, const std::string& name) {
  CUKIT_TRY_ASSIGN(Fd to, create_in(folder_fd, name, file));
  CUKIT_TRY(copy_in_kernel(from, to.get(), file));
  CUKIT_TRY(check_size(to.get(), file));
  CUKIT_TRY(seal_file(to.get(), file.executable));
  ++counts_.copies;
  counts_.copied_bytes += file.size;
  return to.close();
}

/// Files of one folder lie on one file system, as far as cukit made the folder.
Result<Placer::Ways*> Placer::ways_from(const TreeFile& file) {
  const std::string& from = file.from.native();
  const auto name = from.rfind('/') + 1;
  if (folder_ways_ == nullptr || std::string_view(from).substr(0, name) != folder_) {
    struct stat info {};
    if (::lstat(file.from.c_str(), &info) != 0) {
      return cannot_place(errno, file);
    }
    folder_ways_ = &ways_.try_emplace(info.st_dev).first->second;
    folder_ = from.substr(0, name);
  }
  return folder_ways_;
}

Result<void> Placer::place(const TreeFile& file, int folder_fd, const std::string& name) {
  if (file.from.empty()) {
    return write_content(file, folder_fd, name);
  }
  CUKIT_TRY_ASSIGN(Ways* const known, ways_from(file));
  Ways& ways = *known;
  if (placement_ == Placement::copy) {
    ways.hard_link = false; // a reflink shares blocks, not the file
  }
  if (!ways.reflink) { // the common case first: nothing has to be opened
    CUKIT_TRY_ASSIGN(const bool linked, try_hard_link(file, folder_fd, name, ways));
    if (linked) {
      return {};
    }
  }
  CUKIT_TRY_ASSIGN(const Fd from, open_kept(file.from, O_RDONLY));
  const bool tried = !ways.reflink;
  CUKIT_TRY_ASSIGN(const bool cloned, try_reflink(file, from.get(), folder_fd, name, ways));
  if (cloned) {
    return {};
  }
  if (!tried) {
    CUKIT_TRY_ASSIGN(const bool linked, try_hard_link(file, folder_fd, name, ways));
    if (linked) {
      return {};
    }
  }
  return copy(file, from.get(), folder_fd, name);
}

std::string Placer::complaint() const {
  if (placement_ == Placement::copy || counts_.copies == 0) {
    return {};
  }
  const char* why = "the file system refused";
  switch (counts_.why_copied) {
  case EXDEV:
    why = "the store lies on another file system";
    break;
  case EMLINK:
    why = "files have as many names as the file system allows";
    break;
  case EPERM:
  case EACCES:
    why = "the file system, or a rule about files of other users, allows no hard link";
    break;
  case EOPNOTSUPP:
  case ENOSYS:
    why = "the file system has neither reflinks nor hard links";
    break;
  default:
    break;
  }
  return fmt::format("{} files ({}) were copied into the tree, not shared with the store: {}",
                     counts_.copies, human_bytes(counts_.copied_bytes), why);
}

} // namespace cukit::assemble
