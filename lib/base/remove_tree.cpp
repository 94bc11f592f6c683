// Removing a folder with everything in it, whatever is in it: folders that may not be read or
// written, and folders nested deeper than there are descriptors. What lies too deep is first moved
// up, so that neither the stack nor the number of open files grows with the depth.
#include "base/files.hpp"
#include "base/stale.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit {

namespace {

constexpr int k_deepest = 32;
constexpr int k_removals = 8;

/// -1 with errno set when it is no folder, or one that its owner may not open.
int open_folder(int parent, const char* name) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = look_twice([&] { return ::openat(parent, name, flags); });
  if (fd >= 0 || errno != EACCES) {
    return fd;
  }
  const Fd place(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.is_open() ||
      ::chmod(fmt::format("/proc/self/fd/{}", place.get()).c_str(), 0700) != 0) {
    errno = EACCES;
    return -1;
  }
  return ::openat(parent, name, flags);
}

Result<std::vector<std::string>> names_in(int folder, const std::string& shown) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) {
    return fail_errno(errno, "cannot list {}", shown);
  }
  std::vector<std::string> names;
  while (const dirent* entry =
             ::readdir(stream)) { // NOLINT(concurrency-mt-unsafe): the stream is ours
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  ::closedir(stream);
  return names;
}

class Removal {
public:
  Result<void> remove(int parent, const char* name, const std::string& shown) {
    take(parent, name, shown, 0);
    return error_ ? Result<void>(tl::unexpected<Error>(std::move(*error_))) : Result<void>();
  }

private:
  void take(int parent, const char* name, const std::string& shown, int depth) {
    if (look_twice([&] { return ::unlinkat(parent, name, 0); }) == 0 || errno == ENOENT) {
      return;
    }
    if (errno != EISDIR && errno != EPERM) {
      return fail_with(errno, shown);
    }
    if (depth >= k_deepest && move_up(parent, name)) {
      return;
    }
    const Fd folder(open_folder(parent, name));
    if (!folder.is_open()) {
      return errno == ENOENT ? void() : fail_with(errno, shown);
    }
    ::fchmod(folder.get(), 0755); // a tree's folders are read-only
    if (depth == 0) {
      empty_all(folder.get(), shown);
    } else {
      empty(folder.get(), shown, depth);
    }
    // Somebody else may put one more name into it at the same time.
    for (int attempt = 1; ::unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT;
         ++attempt) {
      if ((errno != ENOTEMPTY && errno != EEXIST) || error_ || attempt == k_removals) {
        return fail_with(errno, shown);
      }
      depth == 0 ? empty_all(folder.get(), shown) : empty(folder.get(), shown, depth);
    }
  }

  /// Again for as long as something was moved up meanwhile.
  void empty_all(int folder, const std::string& shown) {
    top_ = folder;
    do {
      has_moved_ = false;
      empty(folder, shown, 0);
    } while (has_moved_);
  }

  void empty(int folder, const std::string& shown, int depth) {
    const auto names = names_in(folder, shown);
    if (!names) {
      error_ = error_ ? error_ : names.error();
      return;
    }
    for (const auto& name : *names) {
      take(folder, name.c_str(), shown + "/" + name, depth + 1);
    }
  }

  /// A folder changes its parent only while it can be written.
  bool move_up(int parent, const char* name) {
    const Fd folder(open_folder(parent, name));
    if (folder.is_open()) {
      ::fchmod(folder.get(), 0755);
    }
    while (true) {
      const auto free = fmt::format(".deep-{}", ++moved_);
      if (::faccessat(top_, free.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        continue;
      }
      if (::renameat(parent, name, top_, free.c_str()) != 0) {
        return false;
      }
      has_moved_ = true;
      return true;
    }
  }

  /// The first is told; the rest goes all the same.
  void fail_with(int number, const std::string& shown) {
    if (!error_) {
      error_ = errno_error(number, fmt::format("cannot remove {}", shown));
    }
  }

  int top_ = -1;
  std::uint64_t moved_ = 0;
  bool has_moved_ = false;
  std::optional<Error> error_;
};

} // namespace

Result<void> remove_tree(const fs::path& path) {
  return Removal().remove(AT_FDCWD, path.c_str(), path.string());
}

} // namespace cukit
