// A lock can be taken only after the file or folder is there; who finds then that a sweep was
// faster makes another one.
#include "base/temporary.hpp"

#include "base/stale.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cukit {

namespace {

constexpr std::array k_prefixes{
    temporary::k_home,       temporary::k_prefix, temporary::k_bundle, temporary::k_manifests,
    temporary::k_validation, temporary::k_build,  temporary::k_image,  temporary::k_export};
constexpr std::size_t k_suffix_digits = 16;
constexpr int k_attempts = 100;
// Where folders keep no locks nobody can tell who is at work; nothing takes longer than this.
constexpr std::int64_t k_unlocked_age = 24 * 60 * 60;

bool has_unique_name(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() == prefix.size() + k_suffix_digits &&
         name.substr(prefix.size()).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

enum class Lock { taken, held, none };

Lock try_lock(const Fd& fd) {
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) {
      return errno == EWOULDBLOCK ? Lock::held : Lock::none;
    }
  }
  return Lock::taken;
}

/// Whether the path still leads to what was opened.
bool is_still(const Fd& fd, const fs::path& path) {
  struct stat opened {};
  struct stat now {};
  return ::fstat(fd.get(), &opened) == 0 && ::lstat(path.c_str(), &now) == 0 &&
         opened.st_dev == now.st_dev && opened.st_ino == now.st_ino;
}

/// Opened and locked when it is this user's own, and nobody works at it.
Fd abandoned(const fs::path& path, int flags) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags));
  struct stat info {};
  if (!fd.is_open() || ::fstat(fd.get(), &info) != 0 || info.st_uid != ::geteuid()) {
    return {};
  }
  const auto lock = try_lock(fd);
  const bool is_old = std::time(nullptr) - info.st_mtime > k_unlocked_age;
  const bool is_ours = lock == Lock::taken || (lock == Lock::none && is_old);
  return is_ours && is_still(fd, path) ? std::move(fd) : Fd();
}

} // namespace

fs::path temporary_folder(const Environment& environment) {
  const auto named = environment.get("TMPDIR");
  return named && !named->empty() ? fs::path(*named) : fs::path("/tmp");
}

std::string unique_suffix() {
  static thread_local std::mt19937_64 engine(std::random_device{}());
  return fmt::format("{:016x}", engine());
}

Result<Fd> hold_temporary(const Fd& file, const fs::path& path) {
  Fd hold(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)); // the lock outlives the close that may fail
  if (!hold.is_open()) {
    return fail_errno(errno, "cannot hold {}", path.string());
  }
  return try_lock(hold) != Lock::held && is_still(hold, path) ? std::move(hold) : Fd();
}

void sweep_temporary_files(const fs::path& folder, std::string_view prefix) {
  for (const auto& name : list_directory(folder).value_or(std::vector<std::string>{})) {
    if (!has_unique_name(name, prefix)) {
      continue;
    }
    // locked until it is gone: whoever made it a moment ago must see that it is taken
    if (const Fd held = abandoned(folder / name, 0); held.is_open()) {
      ::unlink((folder / name).c_str());
    }
  }
}

Result<HeldDirectory> HeldDirectory::create(const fs::path& parent, std::string_view prefix) {
  sweep_temporary(parent);
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    CUKIT_TRY_ASSIGN(auto folder, TempDirectory::create(parent, prefix));
    Fd hold(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!hold.is_open() && errno != ENOENT) {
      return fail_errno(errno, "cannot open {}", folder.path().string());
    }
    if (hold.is_open() && try_lock(hold) != Lock::held && is_still(hold, folder.path())) {
      return HeldDirectory(std::move(hold), std::move(folder));
    } // else a sweep was faster
  }
  return fail(ErrorCode::host, "cannot keep a folder in {}", parent.string());
}

void sweep_temporary(const fs::path& parent) {
  for (const auto& name : list_directory(parent).value_or(std::vector<std::string>{})) {
    const bool is_one = std::any_of(k_prefixes.begin(), k_prefixes.end(),
                                    [&](auto prefix) { return has_unique_name(name, prefix); });
    if (!is_one) {
      continue;
    }
    if (const Fd held = abandoned(parent / name, O_DIRECTORY); held.is_open()) {
      static_cast<void>(remove_tree(parent / name));
    }
  }
}

Result<bool> try_exchange(const fs::path& from, const fs::path& to) {
  const long result = look_twice([&] {
    return ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                     2U /* RENAME_EXCHANGE */);
  });
  if (result == 0) {
    return true;
  }
  if (errno == EXDEV || errno == EINVAL || errno == ENOSYS) {
    return false;
  }
  return fail_errno(errno, "cannot exchange {} and {}", from.string(), to.string());
}

} // namespace cukit
