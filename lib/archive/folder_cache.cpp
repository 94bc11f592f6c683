#include "archive/folder_cache.hpp"

#include "base/strings.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cukit::archive {

namespace {

constexpr int k_folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// Sixteen wheels at once stay far below the usual 1,024 descriptors.
constexpr std::size_t k_open_folders = 24;

int openat2_folder(int root, const char* path) {
  open_how how{};
  how.flags = static_cast<unsigned>(k_folder_flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  while (true) {
    const long fd = ::syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) { // EAGAIN: a rename raced with the walk
      return static_cast<int>(fd);
    }
  }
}

tl::unexpected<Error> unusable(int number, std::string_view path) {
  if (number == ELOOP || number == ENOTDIR || number == EXDEV) {
    return fail(ErrorCode::host,
                "`{}` is a link, a mount point or no folder; nothing is written through it", path);
  }
  return fail_errno(number, "cannot open the folder `{}`", path);
}

} // namespace

bool has_openat2(int root) {
  const Fd fd(openat2_folder(root, "."));
  return fd.is_open();
}

Result<Fd> open_beneath(int root, const std::string& path) {
  const int fd = openat2_folder(root, path.c_str());
  return fd >= 0 ? Result<Fd>(Fd(fd)) : unusable(errno, path);
}

Result<Fd> open_by_steps(int root, const std::string& path) {
  Fd current;
  for (const auto part : split(path, '/')) {
    const int from = current.is_open() ? current.get() : root;
    const int fd = ::openat(from, std::string(part).c_str(), k_folder_flags);
    if (fd < 0) {
      return unusable(errno, path);
    }
    current = Fd(fd);
  }
  return current;
}

FolderCache::FolderCache(Fd root, std::string shown)
    : shown_(std::move(shown)), root_(std::make_shared<const Fd>(std::move(root))),
      openat2_(has_openat2(root_->get())) {}

std::string FolderCache::shown(const RelativePath& path) const {
  return path.empty() ? shown_ : shown_ + "/" + path.text();
}

Result<FolderCache::Shared> FolderCache::get(const RelativePath& folder) {
  if (folder.empty()) {
    return root_;
  }
  const std::lock_guard guard(mutex_);
  return get_locked(folder);
}

Result<FolderCache::Shared> FolderCache::get_locked(const RelativePath& folder) {
  if (folder.empty()) {
    return root_;
  }
  for (const auto& [path, fd] : recent_) {
    if (path == folder.text()) {
      return fd;
    }
  }
  auto fd = made_.contains(folder.text()) ? (openat2_ ? open_beneath(root_->get(), folder.text())
                                                      : open_by_steps(root_->get(), folder.text()))
                                          : make(folder);
  if (!fd) {
    return tl::unexpected<Error>(std::move(fd).error());
  }
  auto shared = std::make_shared<const Fd>(*std::move(fd));
  keep(folder.text(), shared);
  return shared;
}

Result<Fd> FolderCache::make(const RelativePath& folder) {
  CUKIT_TRY_ASSIGN(const Shared parent, get_locked(folder.parent()));
  const std::string name(folder.name());
  if (::mkdirat(parent->get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail_errno(errno, "cannot create the folder {}", shown(folder));
  }
  const int number = ::openat(parent->get(), name.c_str(), k_folder_flags);
  if (number < 0) {
    return unusable(errno, shown(folder));
  }
  Fd fd(number);
  if (::fchmod(fd.get(), 0755) != 0) { // the umask may have taken bits away
    return fail_errno(errno, "cannot set the mode of {}", shown(folder));
  }
  made_.insert(folder.text());
  return fd;
}

void FolderCache::keep(const std::string& path, const Shared& fd) {
  if (recent_.size() < k_open_folders) {
    recent_.emplace_back(path, fd);
    return;
  }
  recent_[oldest_] = {path, fd}; // whoever still uses the old one has a share in it
  oldest_ = (oldest_ + 1) % k_open_folders;
}

Result<void> FolderCache::settle() {
  const std::array<timespec, 2> times{timespec{1, 0}, timespec{1, 0}};
  const std::lock_guard guard(mutex_);
  for (const auto& path : made_) {
    if (::utimensat(root_->get(), path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
      return fail_errno(errno, "cannot set the time stamp of {}/{}", shown_, path);
    }
  }
  if (::futimens(root_->get(), times.data()) != 0) {
    return fail_errno(errno, "cannot set the time stamp of {}", shown_);
  }
  return {};
}

} // namespace cukit::archive
