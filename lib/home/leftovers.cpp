#include "home/leftovers.hpp"

#include "fetch/fetch.hpp"

#include <algorithm>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::home {

namespace {

constexpr std::size_t k_digest_digits = 64;
constexpr const char* k_lock = ".lock";

/// Regular files of a folder; of a folder that is not there none.
Result<std::vector<fs::path>> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!folder_exists(folder)) {
    return files;
  }
  CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
  for (const auto& name : names) {
    files.push_back(folder / name);
  }
  return files;
}

/// Seconds since 1970 of the last writing; of what is gone, or no file, empty.
std::optional<std::int64_t> written(const fs::path& file) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode)
             ? std::optional<std::int64_t>(info.st_mtime)
             : std::nullopt;
}

Result<void> remove_file(const fs::path& file) {
  return ::unlink(file.c_str()) == 0 || errno == ENOENT
             ? Result<void>()
             : fail_errno(errno, "cannot remove {}", file.string());
}

/// The digest that all files of one download begin with, also the temporary ones of a file beside
/// it (`.<digest>...`); empty for any other name.
std::string digest_of(const fs::path& file) {
  auto name = file.filename().string();
  name.erase(0, name.starts_with('.') ? 1 : 0);
  const auto digits = name.substr(0, k_digest_digits);
  const bool is_digest = digits.size() == k_digest_digits &&
                         digits.find_first_not_of("0123456789abcdef") == std::string::npos &&
                         (name.size() == k_digest_digits || name[k_digest_digits] == '.');
  return is_digest ? digits : std::string();
}

using Downloads = std::map<std::string, std::vector<fs::path>>; ///< by digest

Downloads grouped(const std::vector<fs::path>& files) {
  Downloads result;
  for (const auto& file : files) {
    if (auto digest = digest_of(file); !digest.empty()) {
      result[digest].push_back(file);
    }
  }
  return result;
}

bool is_named(const fs::path& report, const std::set<std::string>& named) {
  return report.extension() == ".json" && named.contains(report.stem().string());
}

} // namespace

Result<std::vector<fs::path>> old_reports(const store::Home& home,
                                          const std::set<std::string>& named,
                                          std::chrono::seconds age, std::int64_t now) {
  CUKIT_TRY_ASSIGN(auto files, files_in(home.reports()));
  std::erase_if(files, [&](const fs::path& file) {
    const auto time = written(file);
    return !time || now - *time <= age.count() || is_named(file, named);
  });
  return files;
}

Result<std::vector<fs::path>> remove_reports(const std::vector<fs::path>& reports,
                                             const std::set<std::string>& named) {
  std::vector<fs::path> removed;
  for (const auto& report : reports) {
    if (!is_named(report, named)) {
      CUKIT_TRY(remove_file(report));
      removed.push_back(report);
    }
  }
  return removed;
}

Result<std::vector<fs::path>> old_downloads(const store::Home& home, std::chrono::seconds age,
                                            std::int64_t now) {
  CUKIT_TRY_ASSIGN(const auto files, files_in(home.downloads()));
  std::vector<fs::path> result;
  for (const auto& [digest, group] : grouped(files)) {
    const bool is_young = std::any_of(group.begin(), group.end(), [&](const fs::path& file) {
      const auto time = written(file);
      return !time || now - *time <= age.count();
    });
    if (is_young || fetch::is_held(home.downloads() / digest)) {
      continue;
    }
    const auto lock = home.downloads() / (digest + k_lock);
    if (path_exists(lock)) { // looking makes none, and shared it leaves the file's time alone
      CUKIT_TRY_ASSIGN(const auto held, FileLock::try_acquire(lock, FileLock::Mode::shared,
                                                              store::without_locks(home)));
      if (!held) {
        continue;
      }
    }
    result.insert(result.end(), group.begin(), group.end());
  }
  std::sort(result.begin(), result.end());
  return result;
}

Result<std::vector<fs::path>> remove_downloads(const store::Home& home,
                                               const std::vector<fs::path>& downloads) {
  std::vector<fs::path> removed;
  for (const auto& [digest, group] : grouped(downloads)) {
    const auto lock = home.downloads() / (digest + k_lock);
    CUKIT_TRY_ASSIGN(const auto held, FileLock::try_acquire(lock, FileLock::Mode::exclusive,
                                                            store::without_locks(home)));
    if (!held || fetch::is_held(home.downloads() / digest)) {
      continue;
    }
    for (const auto& file : group) {
      CUKIT_TRY(remove_file(file));
      removed.push_back(file);
    }
    CUKIT_TRY(remove_file(lock)); // last; who waits for it sees that it is gone and makes a new one
  }
  return removed;
}

} // namespace cukit::home
