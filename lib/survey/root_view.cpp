#include "survey/root_view.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::survey {

namespace {

constexpr int k_link_depth = 40;               // the kernel's own limit
constexpr std::uint64_t k_lookup_bytes = 1024; // what one lstat counts against a budget of bytes
constexpr std::uint64_t k_name_bytes = 64;
constexpr std::size_t k_read_bytes = 64U << 10U;

std::string_view without_slashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path;
}

std::optional<std::string> read_link(const std::string& path) {
  std::string target(4096, '\0');
  const ssize_t count = ::readlink(path.c_str(), target.data(), target.size());
  if (count <= 0) {
    return std::nullopt;
  }
  target.resize(static_cast<std::size_t>(count));
  return target;
}

} // namespace

std::string join_path(std::string_view a, std::string_view b) {
  std::string result(without_slashes(a));
  while (b.starts_with('/')) {
    b.remove_prefix(1);
  }
  if (b.empty()) {
    return result;
  }
  if (!result.ends_with('/')) {
    result += '/';
  }
  return result.append(b);
}

std::string parent_of(std::string_view path) {
  path = without_slashes(path);
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string_view name_of(std::string_view path) {
  path = without_slashes(path);
  return path.substr(path.rfind('/') + 1);
}

RootView::RootView(fs::path root, Budget budget)
    : budget_(std::move(budget)), end_(std::chrono::steady_clock::now() + budget_.time) {
  std::error_code error;
  if (auto real = fs::canonical(root, error); !error) {
    root = std::move(real);
  }
  root_ = without_slashes(root.native());
  if (root_ == "/") {
    root_.clear();
  }
}

fs::path RootView::on_host(std::string_view real) const {
  return root_ + std::string(real);
}

bool RootView::spend(std::uint64_t bytes) const {
  is_spent_ = is_spent_ || bytes > budget_.bytes - spent_ || budget_.stop.stop_requested() ||
              std::chrono::steady_clock::now() > end_;
  spent_ += is_spent_ ? 0 : bytes;
  return !is_spent_;
}

std::optional<Fd> RootView::open(std::string_view path) const {
  const auto entry = find(path);
  if (!entry || !entry->is_regular) {
    return std::nullopt;
  }
  // it may have become something else since
  auto fd = open_file(on_host(entry->real), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  return *std::move(fd);
}

std::optional<RootView::Entry> RootView::look(const std::string& path, int depth) const {
  struct stat info {};
  if (!spend(k_lookup_bytes)) {
    return std::nullopt;
  }
  const auto host = on_host(path);
  if (::lstat(host.c_str(), &info) != 0) {
    return std::nullopt;
  }
  if (S_ISLNK(info.st_mode)) {
    const auto target = read_link(host.native());
    if (!target) {
      return std::nullopt;
    }
    return follow(target->starts_with('/') ? *target : join_path(parent_of(path), *target),
                  depth + 1);
  }
  return Entry{.real = path,
               .is_folder = S_ISDIR(info.st_mode),
               .is_regular = S_ISREG(info.st_mode),
               .is_executable = S_ISREG(info.st_mode) && (info.st_mode & 0111U) != 0,
               .size = static_cast<std::uint64_t>(info.st_size)};
}

std::optional<RootView::Entry> RootView::follow(std::string_view path, int depth) const {
  path = without_slashes(path);
  if (depth > k_link_depth || !path.starts_with('/') || path.size() > 4096) {
    return std::nullopt;
  }
  if (path == "/") {
    return Entry{.real = "/", .is_folder = true};
  }
  const auto slash = path.rfind('/');
  const auto name = path.substr(slash + 1);
  const auto parent = slash == 0 ? std::string_view("/") : path.substr(0, slash);
  auto known = folders_.find(parent);
  if (known == folders_.end()) {
    const auto above = follow(parent, depth + 1);
    std::optional<std::string> real;
    if (above && above->is_folder) {
      real = above->real;
    }
    known = folders_.emplace(std::string(parent), std::move(real)).first;
  }
  if (!known->second) {
    return std::nullopt;
  }
  const std::string folder = *known->second;
  if (name.empty() || name == ".") {
    return Entry{.real = folder, .is_folder = true};
  }
  if (name == "..") {
    return Entry{.real = parent_of(folder), .is_folder = true};
  }
  return look(join_path(folder, name), depth);
}

std::optional<RootView::Entry> RootView::find(std::string_view path) const {
  return path.find('\0') == std::string_view::npos ? follow(path, 0) : std::nullopt;
}

bool RootView::is_file(std::string_view path) const {
  const auto entry = find(path);
  return entry && entry->is_regular;
}

bool RootView::is_folder(std::string_view path) const {
  const auto entry = find(path);
  return entry && entry->is_folder;
}

bool RootView::is_program(std::string_view path) const {
  const auto entry = find(path);
  return entry && entry->is_executable;
}

bool RootView::is_link(std::string_view path) const {
  const auto folder = find(parent_of(path));
  if (!folder || !folder->is_folder) {
    return false;
  }
  struct stat info {};
  return ::lstat(on_host(join_path(folder->real, name_of(path))).c_str(), &info) == 0 &&
         S_ISLNK(info.st_mode);
}

std::optional<std::string> RootView::read(std::string_view path, std::uint64_t limit) const {
  const auto entry = find(path);
  // /proc says 0 bytes and has some; read_file bounds what comes
  if (!entry || !entry->is_regular || entry->size > limit) {
    return std::nullopt;
  }
  auto text = head(path, static_cast<std::size_t>(limit) + 1);
  if (text.size() > limit || is_spent_) {
    return std::nullopt;
  }
  return text;
}

std::string RootView::head(std::string_view path, std::size_t count) const {
  const auto fd = open(path);
  std::string bytes;
  while (fd && bytes.size() < count) {
    const auto have = bytes.size();
    bytes.resize(have + std::min(k_read_bytes, count - have));
    const ssize_t got = ::read(fd->get(), bytes.data() + have, bytes.size() - have);
    const int number = errno;
    bytes.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && number == EINTR) {
      continue;
    }
    if (got <= 0 || !spend(static_cast<std::uint64_t>(got))) {
      break;
    }
  }
  return bytes;
}

std::vector<std::string> RootView::list(std::string_view path) const {
  const auto entry = find(path);
  if (!entry || !entry->is_folder) {
    return {};
  }
  auto names = list_directory(on_host(entry->real)).value_or(std::vector<std::string>{});
  return spend(k_name_bytes * names.size()) ? std::move(names) : std::vector<std::string>{};
}

} // namespace cukit::survey
