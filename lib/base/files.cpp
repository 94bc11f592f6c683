#include "base/files.hpp"

#include "base/kept_file.hpp"
#include "base/stale.hpp"
#include "base/strings.hpp"
#include "base/temporary.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace cukit {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) {
      ::close(number_);
    }
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

Fd::~Fd() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

Result<void> Fd::close() {
  // After EINTR Linux has closed the descriptor all the same, so close() is never repeated.
  if (::close(std::exchange(number_, -1)) != 0 && errno != EINTR) {
    return fail_errno(errno, "cannot close a file");
  }
  return {};
}

Result<Fd> open_file(const fs::path& path, int flags, unsigned mode) {
  const int fd = look_twice([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
  return fd >= 0 ? Result<Fd>(Fd(fd)) : fail_errno(errno, "cannot open {}", path.string());
}

namespace {

/// What the caller's shell or parent process handed over (`<(command)`, standard input): a pipe
/// there is no accident.
bool is_handed_over(const fs::path& path) {
  const auto& text = path.native();
  return text == "/dev/stdin" || text.starts_with("/dev/fd/") || text.starts_with("/proc/self/fd/");
}

/// /dev/null is how people say that there is no such file.
bool is_nothing(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

Result<Fd> open_to_read(const fs::path& path) {
  struct stat info {};
  if (is_handed_over(path) || (::stat(path.c_str(), &info) == 0 && is_nothing(info))) {
    return open_file(path, O_RDONLY);
  }
  return open_regular(path, O_RDONLY);
}

template <typename Open>
Result<std::string> read_once(const fs::path& path, std::uint64_t limit, const Open& open,
                              int& number) {
  CUKIT_TRY_ASSIGN(const Fd fd, open(path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return fail_errno(errno, "cannot look at {}", path.string());
  }
  if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > limit) {
    return fail(ErrorCode::host, "{} has {} bytes, more than the {} that are accepted",
                path.string(), info.st_size, limit);
  }
  std::string bytes;
  bytes.reserve(S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) : 4096);
  std::array<char, 65536> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      number = errno;
      return fail_errno(number, "cannot read {}", path.string());
    }
    if (count == 0) {
      return bytes;
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes.size() > limit) {
      return fail(ErrorCode::host, "{} has more than the {} bytes that are accepted", path.string(),
                  limit);
    }
  }
}

tl::unexpected<Error> cannot_write(int number, int fd, std::size_t size) {
  auto error = errno_error(number, fmt::format("cannot write {} bytes", size));
  struct statvfs info {};
  if ((number == ENOSPC || number == EDQUOT) && ::fstatvfs(fd, &info) == 0) {
    const auto free = static_cast<unsigned long long>(info.f_bavail) * info.f_frsize;
    error.causes.push_back(
        fmt::format("{} are needed, {} are free", human_bytes(size), human_bytes(free)));
  }
  return tl::unexpected<Error>(std::move(error));
}

} // namespace

Result<std::string> read_file(const fs::path& path, std::uint64_t limit) {
  return read_twice([&](int& number) { return read_once(path, limit, open_to_read, number); });
}

Result<std::string> read_kept(const fs::path& path, std::uint64_t limit) {
  const auto open = [](const fs::path& file) { return open_kept(file, O_RDONLY); };
  return read_twice([&](int& number) { return read_once(path, limit, open, number); });
}

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      return cannot_write(errno, fd, bytes.size());
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> copy_bytes(int from, int to, std::string_view what) {
  std::string buffer(1U << 20U, '\0');
  while (true) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      return fail_errno(errno, "{}", what);
    }
    if (count == 0) {
      return {};
    }
    CUKIT_TRY(write_all(to, std::string_view(buffer).substr(0, static_cast<std::size_t>(count))));
  }
}

namespace {

/// Makes `temporary` with these bytes. The result keeps it locked; closed: a sweep was faster.
Result<Fd> fill_new_file(const fs::path& temporary, std::string_view bytes, unsigned mode) {
  CUKIT_TRY_ASSIGN(Fd fd, open_file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  CUKIT_TRY_ASSIGN(Fd hold, hold_temporary(fd, temporary));
  if (!hold.is_open()) {
    return hold;
  }
  CUKIT_TRY(write_all(fd.get(), bytes));
  if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0) {
    return fail_errno(errno, "cannot finish {}", temporary.string());
  }
  CUKIT_TRY(fd.close());
  return hold;
}

/// False: a sweep of another process was faster.
Result<bool> replace(const fs::path& temporary, const fs::path& path, std::string_view bytes,
                     unsigned mode) {
  CUKIT_TRY_ASSIGN(const Fd hold, fill_new_file(temporary, bytes, mode));
  if (!hold.is_open()) {
    return false;
  }
  CUKIT_TRY(rename_path(temporary, path));
  return true;
}

} // namespace

Result<void> write_file_atomic(const fs::path& path, std::string_view bytes, unsigned mode) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) {
    // A rename would put the file in its place, and root could do that to /dev/null.
    return fail(ErrorCode::host, "{} is {}, not a regular file", path.string(),
                S_ISDIR(info.st_mode) ? "a folder" : "a device or a pipe");
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto prefix = fmt::format(".{}.", path.filename().string());
  sweep_temporary_files(folder, prefix);
  while (true) {
    const fs::path temporary = folder / (prefix + unique_suffix());
    auto written = replace(temporary, path, bytes, mode);
    if (!written) {
      ::unlink(temporary.c_str());
      return tl::unexpected<Error>(
          std::move(written.error()).under(fmt::format("cannot write {}", path.string())));
    }
    if (*written) {
      return sync_directory(folder);
    }
  }
}

Result<void> create_file(const fs::path& path, std::string_view bytes, unsigned mode) {
  CUKIT_TRY_ASSIGN(Fd fd, open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (auto written = write_all(fd.get(), bytes); !written) {
    return tl::unexpected<Error>(
        std::move(written.error()).under(fmt::format("cannot write {}", path.string())));
  }
  if (::fchmod(fd.get(), mode) != 0) {
    return fail_errno(errno, "cannot set the mode of {}", path.string());
  }
  return fd.close();
}

Result<void> make_directories(const fs::path& path) {
  if (path.empty() || cukit::folder_exists(path)) {
    return {};
  }
  if (path.has_parent_path() && path.parent_path() != path) {
    CUKIT_TRY(make_directories(path.parent_path()));
  }
  if (look_twice([&] { return ::mkdir(path.c_str(), 0755); }) != 0) {
    const int number = errno;
    struct stat info {};
    if (number == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      return {}; // another process was faster, or it is a link to a folder
    }
    return fail_errno(number, "cannot create the folder {}", path.string());
  }
  ::chmod(path.c_str(),
          0755); // the umask may have taken bits away; a failure shows at the first use
  return {};
}

Result<std::vector<std::string>> list_directory(const fs::path& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) {
    return fail_errno(error.value(), "cannot list {}", path.string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> rename_path(const fs::path& from, const fs::path& to) {
  if (look_twice([&] { return ::rename(from.c_str(), to.c_str()); }) != 0) {
    return fail_errno(errno, "cannot rename {} to {}", from.string(), to.string());
  }
  return {};
}

namespace {

long rename_with(unsigned flags, const fs::path& from, const fs::path& to) {
  return look_twice([&] {
    return ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
  });
}

} // namespace

Result<bool> rename_no_replace(const fs::path& from, const fs::path& to) {
  if (rename_with(1U /* RENAME_NOREPLACE */, from, to) == 0) {
    return true;
  }
  if (errno == EEXIST || errno == ENOTEMPTY) {
    return false;
  }
  if (errno == EINVAL || errno == ENOSYS) {
    // A file system without the flag (NFS): rename of a folder onto a folder that is not empty
    // fails by itself.
    if (path_exists(to)) {
      return false;
    }
    if (look_twice([&] { return ::rename(from.c_str(), to.c_str()); }) == 0) {
      return true;
    }
    if (errno == EEXIST || errno == ENOTEMPTY) {
      return false;
    }
  }
  return fail_errno(errno, "cannot rename {} to {}", from.string(), to.string());
}

Result<void> sync_directory(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const Fd fd, open_file(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return fail_errno(errno, "cannot sync {}", path.string());
  }
  return {};
}

Result<void> sync_file(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const Fd fd, open_file(path, O_RDONLY | O_NOFOLLOW));
  if (::fsync(fd.get()) != 0) {
    return fail_errno(errno, "cannot sync {}", path.string());
  }
  return {};
}

Result<void> sync_file_system(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const Fd fd, open_file(path, O_RDONLY | O_DIRECTORY));
  if (::syncfs(fd.get()) != 0) {
    return fail_errno(errno, "cannot sync the file system of {}", path.string());
  }
  return {};
}

bool path_exists(const fs::path& path) {
  struct stat info {};
  return look_twice([&] { return ::lstat(path.c_str(), &info); }) == 0;
}

bool folder_exists(const fs::path& path) {
  struct stat info {};
  return look_twice([&] { return ::stat(path.c_str(), &info); }) == 0 && S_ISDIR(info.st_mode);
}

Result<TempDirectory> TempDirectory::create(const fs::path& parent, std::string_view prefix) {
  CUKIT_TRY(make_directories(parent));
  for (int attempt = 0; attempt < 100; ++attempt) {
    const fs::path path = parent / fmt::format("{}{}", prefix, unique_suffix());
    if (look_twice([&] { return ::mkdir(path.c_str(), 0755); }) == 0) {
      return TempDirectory(path);
    }
    if (errno != EEXIST) {
      return fail_errno(errno, "cannot create a folder in {}", parent.string());
    }
  }
  return fail(ErrorCode::host, "cannot find a free name in {}", parent.string());
}

TempDirectory& TempDirectory::operator=(TempDirectory&& other) noexcept {
  if (this != &other) {
    if (!path_.empty()) {
      static_cast<void>(remove_tree(path_));
    }
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

TempDirectory::~TempDirectory() {
  if (!path_.empty()) {
    static_cast<void>(remove_tree(path_)); // the rest is found by the next run's sweep of staging/
  }
}

} // namespace cukit
