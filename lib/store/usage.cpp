#include "store/usage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::store {

namespace {

constexpr std::uint64_t k_block = 512; // the unit of st_blocks, whatever the file system's own is

template <typename Visit>
Result<void> walk(int parent, const std::string& name, const std::string& shown,
                  const Visit& visit) {
  const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    return errno == ENOENT ? Result<void>() : fail_errno(errno, "cannot open {}", shown);
  }
  DIR* const stream = ::fdopendir(fd);
  if (stream == nullptr) {
    const int number = errno;
    ::close(fd);
    return fail_errno(number, "cannot list {}", shown);
  }
  Result<void> result;
  while (const dirent* entry =
             ::readdir(stream)) { // NOLINT(concurrency-mt-unsafe): the stream is ours
    const std::string child = entry->d_name;
    struct stat info {};
    if (child == "." || child == ".." ||
        ::fstatat(fd, child.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue; // itself, or just removed
    }
    visit(info);
    if (S_ISDIR(info.st_mode)) {
      result = walk(fd, child, shown + "/" + child, visit);
      if (!result) {
        break;
      }
    }
  }
  ::closedir(stream); // closes fd too
  return result;
}

} // namespace

Result<void> Usage::add(const fs::path& folder) {
  return walk(AT_FDCWD, folder.string(), folder.string(),
              [this](const struct stat& info) { count(info); });
}

void Usage::add_file(const fs::path& file) {
  struct stat info {};
  if (::lstat(file.c_str(), &info) == 0) {
    count(info);
  }
}

void Usage::count(const struct stat& info) {
  const auto size = static_cast<std::uint64_t>(info.st_blocks) * k_block;
  // A folder's number of links counts its sub-folders; it has one name.
  const nlink_t names = S_ISDIR(info.st_mode) ? 1 : info.st_nlink;
  const auto [it, fresh] =
      seen_.try_emplace({info.st_dev, info.st_ino}, Seen{.left = names, .bytes = size});
  if (it->second.left > 0) {
    --it->second.left;
  }
  bytes_ += fresh ? size : 0;
}

std::uint64_t Usage::own_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [id, seen] : seen_) {
    sum += seen.left == 0 ? seen.bytes : 0;
  }
  return sum;
}

} // namespace cukit::store
