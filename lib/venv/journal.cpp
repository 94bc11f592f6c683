#include "venv/journal.hpp"

#include "base/limits.hpp"
#include "base/number.hpp"
#include "base/sha256.hpp"
#include "base/strings.hpp"
#include "base/utc.hpp"
#include "model/relative_path.hpp"
#include "text/json.hpp"

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::venv {

namespace {

constexpr std::uint64_t k_journal_bytes = 64U << 20U;

fs::path generations(const Place& place) {
  return place.state() / "gen";
}

/// The environment that a generation is of, without links.
Result<fs::path> prefix_of_generation(const fs::path& generation) {
  std::error_code error;
  auto real = fs::canonical(generation.parent_path().parent_path().parent_path(), error);
  return error ? fail_errno(error.value(), "cannot look at {}", generation.string())
               : Result<fs::path>(std::move(real));
}

Result<void> write_journal(const Journal& journal) {
  auto rows = text::Json::list();
  for (const auto& row : journal.rows) {
    rows.add(text::Json::object()
                 .set("path", row.path)
                 .set("before", row.before)
                 .set("after", row.after));
  }
  CUKIT_TRY_ASSIGN(const auto prefix, prefix_of_generation(journal.folder));
  const auto json = text::Json::object()
                        .set("schema", "cukit.venv-journal/1")
                        .set("site", journal.site.lexically_relative(prefix).string())
                        .set("what", journal.what)
                        .set("time", journal.time)
                        .set("folders", text::Json::list(journal.folders))
                        .set("rows", rows);
  return write_file_atomic(journal.folder / "journal.json", json.dump() + "\n");
}

Result<Journal> read_journal(const fs::path& folder, int number) {
  const auto file = folder / "journal.json";
  CUKIT_TRY_ASSIGN(const auto bytes, read_file(file, k_journal_bytes));
  CUKIT_TRY_ASSIGN(const auto json, text::Json::parse(bytes, file.string()));
  CUKIT_TRY_ASSIGN(const auto prefix, prefix_of_generation(folder));
  Journal journal{.number = number,
                  .folder = folder,
                  .site = prefix,
                  .what = std::string(json.text_of("what")),
                  .time = std::string(json.text_of("time")),
                  .rows = {}};
  if (const auto site = json.text_of("site"); site != ".") { // an environment may be moved
    CUKIT_TRY_ASSIGN(const auto below, RelativePath::parse(site));
    journal.site /= below.text();
  }
  const auto* rows = json.find("rows");
  const auto* folders = json.find("folders");
  if (json.text_of("schema") != "cukit.venv-journal/1" || rows == nullptr || folders == nullptr) {
    return fail(ErrorCode::host, "{} is no journal of this cukit", file.string());
  }
  for (const auto& one : folders->items()) {
    CUKIT_TRY_ASSIGN(const auto path, RelativePath::parse(one.text()));
    journal.folders.push_back(path.text());
  }
  for (const auto& row : rows->items()) {
    // whoever writes the file could name any other
    CUKIT_TRY_ASSIGN(const auto path, RelativePath::parse(row.text_of("path")));
    journal.rows.push_back(
        {path.text(), std::string(row.text_of("before")), std::string(row.text_of("after"))});
  }
  journal.is_done = path_exists(folder / "done");
  journal.is_undoing = path_exists(folder / "undoing");
  return journal;
}

/// Numbers of the generations, ascending.
Result<std::vector<int>> numbers(const Place& place) {
  std::vector<int> result;
  if (!folder_exists(generations(place))) {
    return result;
  }
  CUKIT_TRY_ASSIGN(const auto names, list_directory(generations(place)));
  for (const auto& name : names) {
    if (const int number = whole_number<int>(name).value_or(0); number > 0) {
      result.push_back(number);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The same file by another name where that is allowed; else a copy, whole before it has its name.
Result<void> keep(const fs::path& from, const fs::path& to) {
  CUKIT_TRY(make_directories(to.parent_path()));
  if (path_exists(to) || ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) == 0) {
    return {};
  }
  const auto temporary = to.string() + ".part";
  std::error_code error;
  fs::remove(temporary, error);
  fs::copy(from, temporary, fs::copy_options::copy_symlinks, error);
  if (error) {
    return fail_errno(error.value(), "cannot keep a copy of {}", from.string());
  }
  return rename_path(temporary, to);
}

Result<void> remove_file(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    return fail_errno(errno, "cannot remove {}", path.string());
  }
  return {};
}

/// Folders above a path that hold nothing any more, up to `site` or one of `kept`.
void remove_empty_folders(const fs::path& site, const std::string& path,
                          const std::vector<std::string>& kept = {}) {
  for (auto folder = fs::path(path).parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const bool is_kept = std::binary_search(kept.begin(), kept.end(), folder.string());
    if (is_kept || ::rmdir((site / folder).c_str()) != 0) {
      return;
    }
  }
}

/// Sorted, which puts parents first.
std::vector<std::string> standing_folders(const Journal& journal) {
  std::set<std::string> result;
  for (const auto& row : journal.rows) {
    for (auto folder = fs::path(row.path).parent_path(); !folder.empty();
         folder = folder.parent_path()) {
      if (folder_exists(journal.site / folder)) {
        result.insert(folder.string());
      }
    }
  }
  return {result.begin(), result.end()};
}

/// From `saved` on; can be run again from any point.
Result<void> go_forward(const Journal& journal) {
  for (const auto& row : journal.rows) {
    const auto to = journal.site / row.path;
    if (row.after.empty()) {
      CUKIT_TRY(remove_file(to));
      remove_empty_folders(journal.site, row.path);
    } else if (const auto from = journal.folder / "new" / row.path; path_exists(from)) {
      CUKIT_TRY(make_directories(to.parent_path()));
      CUKIT_TRY(rename_path(from, to));
    }
  }
  CUKIT_TRY(sync_file_system(journal.site));
  CUKIT_TRY(write_file_atomic(journal.folder / "done", "\n"));
  return remove_tree(journal.folder / "new");
}

Result<void> save(const Journal& journal) {
  for (const auto& row : journal.rows) {
    if (!row.before.empty()) {
      CUKIT_TRY(keep(journal.site / row.path, journal.folder / "old" / row.path));
    }
  }
  CUKIT_TRY(sync_file_system(journal.folder));
  return write_file_atomic(journal.folder / "saved", "\n");
}

/// No row may have changed since it was planned.
Result<void> check_unchanged(const Journal& journal) {
  for (const auto& row : journal.rows) {
    CUKIT_TRY_ASSIGN(const auto now, identity_of(journal.site / row.path));
    if (now != row.before) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::host,
                .message = fmt::format("{} was changed by somebody else meanwhile", row.path),
                .where = (journal.site / row.path).string(),
                .hint = "wait until nobody installs anything there, then run the command again"});
    }
  }
  return {};
}

/// One row back as it was; why not, where that cannot be.
Result<std::string> take_back(const Journal& journal, const Row& row) {
  const auto path = journal.site / row.path;
  const auto kept = journal.folder / "old" / row.path;
  CUKIT_TRY_ASSIGN(const auto now, identity_of(path));
  if (now == row.before) {
    if (now.empty()) { // a run that was stopped behind the file left its folder
      remove_empty_folders(journal.site, row.path, journal.folders);
    }
    return std::string();
  }
  // midway, a file that was replaced may not have come yet
  if (now != row.after && !(now.empty() && path_exists(journal.folder / "new" / row.path))) {
    return fmt::format(
        "{} was {} since by somebody else{}", row.path, now.empty() ? "removed" : "changed",
        row.before.empty() ? std::string() : "; as it was before it is kept in " + kept.string());
  }
  if (row.before.empty()) {
    CUKIT_TRY(remove_file(path));
    remove_empty_folders(journal.site, row.path, journal.folders);
    return std::string();
  }
  if (!path_exists(kept)) {
    return fmt::format("{} cannot come back: {} is gone", row.path, kept.string());
  }
  CUKIT_TRY(make_directories(path.parent_path()));
  CUKIT_TRY(rename_path(kept, path));
  return std::string();
}

/// Of a change that had not touched anything, all that there is.
Result<void> recover_one(const Place& place, int number, HeldPlace& held) {
  auto& told = held.recovered;
  const auto folder = generations(place) / std::to_string(number);
  if (!path_exists(folder / "journal.json") || !path_exists(folder / "saved")) {
    CUKIT_TRY(remove_tree(folder));
    told.push_back(
        fmt::format("change {} had not begun when it was stopped: nothing of it is left", number));
    return {};
  }
  CUKIT_TRY_ASSIGN(auto journal, read_journal(folder, number));
  if (journal.is_undoing) {
    CUKIT_TRY_ASSIGN(const auto left, undo(journal));
    held.taken_back.push_back(number);
    told.push_back(fmt::format("change {} was being taken back when that was stopped: {}", number,
                               left.empty() ? "it is taken back now" : "parts of it stay"));
  } else if (!journal.is_done) {
    CUKIT_TRY(go_forward(journal));
    told.push_back(
        fmt::format("change {} was stopped midway: it is whole now ({})", number, journal.what));
  } else {
    CUKIT_TRY(remove_tree(folder / "new"));
  }
  return {};
}

} // namespace

Result<Identity> identity_of(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT || errno == ENOTDIR
               ? Result<Identity>(Identity())
               : fail_errno(errno, "cannot look at {}", path.string());
  }
  if (S_ISLNK(info.st_mode)) {
    std::error_code error;
    return "link:" + fs::read_symlink(path, error).string();
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::host, "{} is {}, where a package has a file", path.string(),
                S_ISDIR(info.st_mode) ? "a folder" : "no regular file");
  }
  CUKIT_TRY_ASSIGN(const auto digest, sha256_of_file(path));
  return digest.text();
}

Result<HeldPlace> hold(const Place& place) {
  CUKIT_TRY(make_directories(place.state()));
  CUKIT_TRY_ASSIGN(auto lock,
                   FileLock::try_acquire(place.state() / "lock", FileLock::Mode::exclusive,
                                         FileLock::WithoutLocks::go_on));
  if (!lock) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::host,
              .message = fmt::format("another cukit is changing {}", place.prefix.string()),
              .where = place.prefix.string(),
              .hint = "run the command again when it has ended"});
  }
  HeldPlace held{.lock = *std::move(lock)};
  CUKIT_TRY_ASSIGN(const auto all, numbers(place));
  for (const auto number : all) {
    CUKIT_TRY(recover_one(place, number, held));
  }
  return held;
}

bool is_unfinished(const Place& place) {
  const auto all = numbers(place);
  return all && std::any_of(all->begin(), all->end(), [&](int number) {
           const auto folder = generations(place) / std::to_string(number);
           return path_exists(folder / "saved") &&
                  (!path_exists(folder / "done") || path_exists(folder / "undoing"));
         });
}

Result<std::vector<Journal>> list_journals(const Place& place) {
  std::vector<Journal> result;
  CUKIT_TRY_ASSIGN(const auto all, numbers(place));
  for (const auto number : all) {
    const auto folder = generations(place) / std::to_string(number);
    if (path_exists(folder / "done")) {
      CUKIT_TRY_ASSIGN(auto journal, read_journal(folder, number));
      result.push_back(std::move(journal));
    }
  }
  return result;
}

Result<Journal> begin(const Place& place, const fs::path& site) {
  CUKIT_TRY_ASSIGN(const auto all, numbers(place));
  Journal journal{.number = all.empty() ? 1 : all.back() + 1,
                  .folder = {},
                  .site = site,
                  .what = {},
                  .time = utc_text(std::time(nullptr)),
                  .rows = {}};
  journal.folder = generations(place) / std::to_string(journal.number);
  CUKIT_TRY(make_directories(journal.folder / "new"));
  return journal;
}

Result<void> abandon(const Journal& journal) {
  return remove_tree(journal.folder);
}

Result<void> commit(Journal& journal) {
  journal.folders = standing_folders(journal);
  const auto prepare = [&]() -> Result<void> {
    CUKIT_TRY(sync_file_system(journal.folder));
    CUKIT_TRY(write_journal(journal));
    CUKIT_TRY(check_unchanged(journal));
    return save(journal);
  };
  if (auto prepared = prepare(); !prepared) {
    static_cast<void>(abandon(journal));
    return prepared;
  }
  auto forward = go_forward(journal);
  if (!forward && !path_exists(journal.folder / "done")) {
    if (const auto back = undo(journal); !back || !back->empty()) {
      forward.error().causes.emplace_back("taking it back did not succeed either; the next `cukit "
                                          "venv` command tries again");
    }
    return forward;
  }
  journal.is_done = true;
  return {};
}

Result<std::vector<std::string>> undo(Journal& journal) {
  std::vector<std::string> left;
  CUKIT_TRY(write_file_atomic(journal.folder / "undoing", "\n"));
  for (auto row = journal.rows.rbegin(); row != journal.rows.rend(); ++row) {
    CUKIT_TRY_ASSIGN(auto why, take_back(journal, *row));
    if (!why.empty()) {
      left.push_back(std::move(why));
    }
  }
  for (const auto& folder : journal.folders) {
    CUKIT_TRY(make_directories(journal.site / folder));
  }
  CUKIT_TRY(sync_file_system(journal.site));
  if (left.empty()) {
    // without its journal a folder is what had never begun
    CUKIT_TRY(remove_file(journal.folder / "journal.json"));
    CUKIT_TRY(remove_tree(journal.folder));
  } else {
    CUKIT_TRY(write_file_atomic(journal.folder / "done", "\n"));
    CUKIT_TRY(remove_file(journal.folder / "undoing"));
  }
  return left;
}

} // namespace cukit::venv
