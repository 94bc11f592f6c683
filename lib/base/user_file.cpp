#include "base/user_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit {

namespace {

constexpr int k_most_links = 40; // as the kernel

/// Follows the links at the end of a path. Links among its folders are the kernel's to follow.
Result<fs::path> follow(fs::path path) {
  for (int count = 0; count < k_most_links; ++count) {
    std::error_code not_a_link;
    const auto next = fs::read_symlink(path, not_a_link);
    if (not_a_link) {
      return path;
    }
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return fail_errno(ELOOP, "cannot follow {}", path.string());
}

std::optional<struct stat> look(const fs::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? std::optional(info) : std::nullopt;
}

/// An open file by its number, as /dev/stdout: whoever opened it wants the bytes there.
bool is_open_file(const fs::path& path) {
  return path.string().starts_with("/proc/");
}

Result<void> write_into(const fs::path& path, std::string_view bytes) {
  CUKIT_TRY_ASSIGN(Fd fd, open_file(path, O_WRONLY | O_NOCTTY | O_APPEND));
  if (auto written = write_all(fd.get(), bytes); !written) {
    return tl::unexpected<Error>(
        std::move(written.error()).under(fmt::format("cannot write {}", path.string())));
  }
  return fd.close();
}

} // namespace

Result<fs::path> absolute_path(const fs::path& path) {
  if (path.is_absolute()) {
    return path.lexically_normal();
  }
  if (path.empty()) {
    return fail(ErrorCode::usage, "an empty path leads nowhere");
  }
  std::error_code error;
  const auto folder = fs::current_path(error);
  if (error) {
    auto failed = errno_error(
        error.value(),
        fmt::format("cannot tell where {} is: the working folder is gone", path.string()));
    failed.hint = "go to a folder that exists, or name the path from / on";
    return tl::unexpected<Error>(std::move(failed));
  }
  return (folder / path).lexically_normal();
}

Result<fs::path> replaceable_file(const fs::path& path) {
  CUKIT_TRY_ASSIGN(auto target, follow(path));
  const auto info = look(path);
  if (is_open_file(target) || (info && !S_ISREG(info->st_mode))) {
    return tl::unexpected<Error>(Error{
        .code = ErrorCode::usage,
        .message = fmt::format("{} is {}, not a regular file", path.string(),
                               info && S_ISDIR(info->st_mode) ? "a folder" : "a device or a pipe"),
        .hint = "name a regular file: it is replaced in one step"});
  }
  return target;
}

Result<void> write_user_file(const fs::path& path, std::string_view bytes) {
  CUKIT_TRY_ASSIGN(const auto target, follow(path));
  const auto before = look(path);
  if (before && !S_ISDIR(before->st_mode) && (!S_ISREG(before->st_mode) || is_open_file(target))) {
    return write_into(path, bytes);
  }
  const unsigned mode = before && S_ISREG(before->st_mode) ? before->st_mode & 07777U : 0644U;
  if (auto written = write_file_atomic(target, bytes, mode); !written) {
    auto error = std::move(written).error();
    // not cukit's home, but a folder of the person's is the one to look at
    if (error.hint.empty() || error.hint.find("CUKIT_HOME") != std::string::npos) {
      error.hint = fmt::format("see that {} has room and may be written, and run the same command "
                               "again",
                               target.has_parent_path() ? target.parent_path().string() : ".");
    }
    return tl::unexpected<Error>(std::move(error));
  }
  if (before && (before->st_uid != ::geteuid() || before->st_gid != ::getegid())) {
    // It may fail: then the file is whoever's wrote it, as with any other program.
    static_cast<void>(!::lchown(target.c_str(), before->st_uid, before->st_gid));
  }
  return {};
}

} // namespace cukit
