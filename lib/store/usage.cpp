#include "store/usage.hpp"

#include "base/fd.hpp"
#include "base/kept_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cukit::store {

namespace {

constexpr int k_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::uint64_t k_block = 512; // the unit of st_blocks, whatever the file system's own is

/// Visits what lies in the folder and gives the folders among it.
template <typename Visit>
std::vector<std::string> folders_of(const Fd& folder, const Visit& visit) {
  std::vector<std::string> folders;
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) {
    return folders;
  }
  while (const dirent* entry =
             ::readdir(stream)) { // NOLINT(concurrency-mt-unsafe): the stream is ours
    const std::string child = entry->d_name;
    struct stat info {};
    if (child == "." || child == ".." ||
        ::fstatat(folder.get(), child.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue; // itself, or just removed
    }
    visit(info);
    if (S_ISDIR(info.st_mode)) {
      folders.push_back(child);
    }
  }
  ::closedir(stream); // closes the copy too
  return folders;
}

/// One folder is open at a time, so that neither depth nor number of folders counts. What may not
/// be read is counted as what it is itself.
template <typename Visit> Result<void> walk(const fs::path& top, const Visit& visit) {
  Fd here(::open(top.c_str(), k_folder));
  if (!here.is_open()) {
    return errno == ENOENT ? Result<void>() : fail_errno(errno, "cannot open {}", top.string());
  }
  std::vector<std::vector<std::string>> to_do{folders_of(here, visit)};
  while (true) {
    if (!to_do.back().empty()) {
      const auto name = std::move(to_do.back().back());
      to_do.back().pop_back();
      Fd below(::openat(here.get(), name.c_str(), k_folder));
      if (below.is_open() && ::faccessat(below.get(), "..", F_OK, 0) == 0) { // there is a way back
        here = std::move(below);
        to_do.push_back(folders_of(here, visit));
      }
      continue;
    }
    to_do.pop_back();
    if (to_do.empty()) {
      return {};
    }
    Fd above(::openat(here.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!above.is_open()) {
      return fail_errno(errno, "cannot go through {}", top.string());
    }
    here = std::move(above);
  }
}

} // namespace

Result<void> Usage::add(const fs::path& folder) {
  if (!is_kept_folder(folder)) { // a file, a link or a pipe that somebody left there
    add_file(folder);
    return {};
  }
  return walk(folder, [this](const struct stat& info) { count(info); });
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
