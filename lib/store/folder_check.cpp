#include "store/folder_check.hpp"

#include "base/kept_file.hpp"
#include "base/stale.hpp"
#include "base/strings.hpp"
#include "base/thread_pool.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::store {

namespace {

using Kind = Difference::Kind;

struct Found {
  mode_t mode = 0;
  std::uint64_t size = 0;
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t names = 0;
};

/// Expected paths and the folders above them.
using Known = std::set<std::string, std::less<>>;

Known known_paths(const std::vector<ExpectedPath>& expected) {
  Known known;
  for (const auto& wanted : expected) {
    for (auto path = wanted.path; !path.empty() && known.insert(path.text()).second;) {
      path = path.parent();
    }
  }
  return known;
}

/// Every path below a folder with what lstat says, folders included. What is in a folder that
/// nobody expects is passed over: the folder is extra as a whole, however deep it is.
class Walk {
public:
  Walk(const std::vector<std::string>& ignored, const Known& known)
      : ignored_(ignored), known_(known) {}
  Result<void> into(const fs::path& folder, const std::string& prefix) {
    const auto names = list_directory(folder);
    if (!names && prefix.empty()) {
      return tl::unexpected<Error>(names.error());
    }
    if (!names) {
      unreadable[prefix.substr(0, prefix.size() - 1)] = names.error().message;
      return {};
    }
    for (const auto& name : *names) {
      if (prefix.empty() && std::find(ignored_.begin(), ignored_.end(), name) != ignored_.end()) {
        continue;
      }
      const fs::path path = folder / name;
      struct stat info {};
      if (look_twice([&] { return ::lstat(path.c_str(), &info); }) != 0) {
        return fail_errno(errno, "cannot look at {}", path.string());
      }
      found[prefix + name] = {info.st_mode, static_cast<std::uint64_t>(info.st_size), info.st_dev,
                              info.st_ino, info.st_nlink};
      if (S_ISDIR(info.st_mode) && known_.contains(prefix + name)) {
        CUKIT_TRY(into(path, prefix + name + "/"));
      }
    }
    return {};
  }
  std::map<std::string, Found> found;
  std::map<std::string, std::string> unreadable; ///< folder -> why

private:
  const std::vector<std::string>& ignored_;
  const Known& known_;
};

/// Findings of several threads and the first error that kept one from looking.
struct Findings {
  std::mutex mutex; ///< guards the other two
  std::map<std::string, Difference> by_path;
  std::optional<Error> error;

  void add(Difference::Kind kind, const std::string& path, std::string detail = {}) {
    const std::lock_guard guard(mutex);
    by_path.emplace(path, Difference{kind, path, std::move(detail)});
  }
  void fail_with(Error failure) {
    const std::lock_guard guard(mutex);
    if (!error) {
      error = std::move(failure);
    }
  }
};

void compare_link(const fs::path& folder, const ExpectedPath& wanted, Findings& findings) {
  std::array<char, 4096>
      target; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by readlink
  const fs::path path = folder / wanted.path.text();
  const ssize_t size =
      look_twice([&] { return ::readlink(path.c_str(), target.data(), target.size()); });
  if (size < 0) {
    findings.fail_with(errno_error(errno, fmt::format("cannot read the link {}", path.string())));
    return;
  }
  const std::string_view text(target.data(), static_cast<std::size_t>(size));
  if (text != wanted.link) {
    findings.add(Kind::link, wanted.path.text(),
                 fmt::format("leads to {}, was {}", text, wanted.link));
  }
}

void compare_content(const fs::path& folder, const ExpectedPath& wanted, const Found& found,
                     DigestMemory& memory, Findings& findings) {
  const auto digest =
      memory.of(folder / wanted.path.text(), found.device, found.inode, found.names);
  if (!digest) {
    findings.fail_with(digest.error());
  } else if (*digest != wanted.sha256) {
    findings.add(Kind::modified, wanted.path.text());
  }
}

/// What lstat alone tells; true when the content has to be looked at as well.
bool same_kind(const ExpectedPath& wanted, const Found& found, Findings& findings) {
  const auto& path = wanted.path.text();
  if (wanted.link.empty() ? !S_ISREG(found.mode) : !S_ISLNK(found.mode)) {
    findings.add(Kind::modified, path, "another kind of file");
    return false;
  }
  if (!wanted.link.empty()) {
    return true;
  }
  if (found.size != wanted.size) {
    findings.add(Kind::modified, path, fmt::format("{} bytes, was {}", found.size, wanted.size));
    return false;
  }
  if ((found.mode & 07777U) != wanted.mode) {
    // Reported beside a changed content would be noise: the first finding of a path stays.
    findings.add(Kind::mode, path,
                 fmt::format("{:04o}, was {:04o}", found.mode & 07777U, wanted.mode));
    return false;
  }
  return true;
}

void name_extras(const Walk& walk, const Known& known, Findings& findings) {
  for (const auto& [path, info] : walk.found) {
    if (!known.contains(path)) {
      findings.add(Kind::extra, S_ISDIR(info.mode) ? path + "/" : path);
    }
  }
  for (const auto& [path, why] : walk.unreadable) {
    findings.add(Kind::modified, path + "/", why);
  }
}

} // namespace

std::string_view name_of(Difference::Kind kind) {
  switch (kind) {
  case Kind::modified:
    return "modified";
  case Kind::missing:
    return "missing";
  case Kind::extra:
    return "extra";
  case Kind::mode:
    return "mode changed";
  case Kind::link:
    return "link changed";
  }
  return "";
}

std::string text_of(const Difference& difference) {
  return fmt::format(
      "{}: {}{}", name_of(difference.kind), printable(difference.path),
      difference.detail.empty() ? "" : fmt::format(" ({})", printable(difference.detail)));
}

Result<Sha256> DigestMemory::of(const fs::path& file, dev_t device, ino_t inode, nlink_t names) {
  if (names <= 1) {
    return sha256_of_file(file);
  }
  {
    const std::lock_guard guard(mutex_);
    if (const auto it = known_.find({device, inode}); it != known_.end()) {
      return it->second;
    }
  }
  CUKIT_TRY_ASSIGN(const auto digest, sha256_of_file(file));
  const std::lock_guard guard(mutex_);
  known_.emplace(std::pair(device, inode), digest);
  return digest;
}

Result<std::vector<Difference>> compare_folder(const fs::path& folder,
                                               const std::vector<ExpectedPath>& expected,
                                               const std::vector<std::string>& ignored,
                                               const std::stop_token& stop, DigestMemory& memory) {
  if (!is_kept_folder(folder)) {
    return tl::unexpected<Error>(other_kind(folder, "a folder"));
  }
  const auto known = known_paths(expected);
  Walk walk(ignored, known);
  CUKIT_TRY(walk.into(folder, ""));
  Findings findings;
  name_extras(walk, known, findings);
  {
    ThreadPool pool;
    for (const auto& wanted : expected) {
      const auto it = walk.found.find(wanted.path.text());
      if (it == walk.found.end()) {
        findings.add(Kind::missing, wanted.path.text());
      } else if (same_kind(wanted, it->second, findings)) {
        pool.submit(
            [&folder, &wanted, &findings, &stop, &memory, &found = it->second] {
              if (stop.stop_requested()) {
                return;
              }
              wanted.link.empty() ? compare_content(folder, wanted, found, memory, findings)
                                  : compare_link(folder, wanted, findings);
            },
            wanted.size);
      }
    }
  } // the pool has finished
  if (stop.stop_requested()) {
    return fail(ErrorCode::interrupted, "interrupted while checking {}", folder.string());
  }
  if (findings.error) {
    return tl::unexpected<Error>(*std::move(findings.error));
  }
  std::vector<Difference> differences;
  for (auto& [path, difference] : findings.by_path) {
    differences.push_back(std::move(difference));
  }
  return differences;
}

Result<std::vector<std::string>> check_folder(const fs::path& folder,
                                              const std::vector<ExpectedPath>& expected,
                                              const std::vector<std::string>& ignored,
                                              const std::stop_token& stop) {
  DigestMemory memory;
  CUKIT_TRY_ASSIGN(const auto differences, compare_folder(folder, expected, ignored, stop, memory));
  std::vector<std::string> lines;
  for (const auto& difference : differences) {
    lines.push_back(text_of(difference));
  }
  return lines;
}

} // namespace cukit::store
