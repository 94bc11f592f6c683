#include "pipeline/prefix.hpp"

#include "assemble/extras.hpp"
#include "base/strings.hpp"
#include "base/temporary.hpp"
#include "store/hold.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace cukit::pipeline {

namespace {

constexpr const char* k_record = ".cukit";
constexpr std::size_t k_named = 5;    ///< files of a person that are named
constexpr int k_prefix_attempts = 20; ///< somebody makes and removes things there meanwhile

tl::unexpected<Error> no_place(const fs::path& prefix, std::string_view why, std::string hint) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::host,
            .message = fmt::format("{} {}", printable(prefix.string()), why),
            .where = prefix.string(),
            .hint = std::move(hint)});
}

bool is_mount(const fs::path& path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx info {};
  return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &info) == 0 &&
         (info.stx_attributes_mask & info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  static_cast<void>(path);
  return false;
#endif
}

/// A tree of a home: its place is the home's own.
bool is_in_store(const fs::path& prefix) {
  std::error_code error;
  const auto parent = fs::weakly_canonical(prefix.parent_path(), error);
  return !error && parent.filename() == "trees" && folder_exists(parent.parent_path() / "store") &&
         path_exists(parent.parent_path() / "version");
}

/// A folder below site-packages or dist-packages is what installed packages are made of.
bool is_of_packages(const fs::path& prefix) {
  std::error_code error;
  const auto real = fs::weakly_canonical(prefix, error);
  return std::any_of(real.begin(), real.end(), [](const fs::path& part) {
    return part == "site-packages" || part == "dist-packages";
  });
}

/// Whether what stands there may go: an empty folder, or a tree, also one of which parts are gone.
Result<void> check_standing(const fs::path& standing, const fs::path& prefix) {
  struct stat info {};
  const bool is_folder = ::lstat(standing.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  const auto names = is_folder ? list_directory(standing)
                               : Result<std::vector<std::string>>(std::vector<std::string>());
  CUKIT_TRY(names);
  if (!is_folder || (!names->empty() && !folder_exists(standing / k_record))) {
    return no_place(prefix, "exists and is no tree of cukit's",
                    is_of_packages(prefix)
                        ? "the packages of a Python environment lie there, and its libraries would "
                          "go: `cukit venv` looks after them; name a folder of its own for a tree"
                        : "name a folder that does not exist, or remove it first");
  }
  if (names->empty()) {
    return {};
  }
  auto others = assemble::extras(standing);
  if (!others) {
    auto error = std::move(others.error())
                     .under(fmt::format("nobody can tell which files of {} are cukit's",
                                        printable(prefix.string())));
    error.hint = "remove it, after a look at what is in it";
    return tl::unexpected<Error>(std::move(error));
  }
  if (others->empty()) {
    return {};
  }
  const auto more = others->size() - std::min(others->size(), k_named);
  others->resize(others->size() - more);
  const auto list =
      join(*others, ", ") + (more > 0 ? fmt::format(" and {} more", more) : std::string());
  return no_place(prefix, fmt::format("holds what cukit did not put there: {}", printable(list)),
                  "move that somewhere else; a prefix is replaced as a whole");
}

/// The folder of the journal, held. In it is `tree`, whole, from when the switch has begun.
struct Journal {
  fs::path folder;
  FileLock lock;
  [[nodiscard]] fs::path tree() const { return folder / "tree"; }
};

fs::path journal_folder(const fs::path& prefix) {
  return prefix.parent_path() / fmt::format(".cukit-switch.{}", prefix.filename().string());
}

Result<Journal> open_journal(const fs::path& prefix, const std::stop_token& stop) {
  const auto folder = journal_folder(prefix);
  for (int attempt = 0;; ++attempt) {
    CUKIT_TRY(make_directories(folder));
    auto lock = FileLock::acquire(folder / "lock", FileLock::Mode::exclusive, stop, {},
                                  FileLock::WithoutLocks::go_on);
    if (lock) {
      return Journal{folder, std::move(*lock)};
    }
    // Whoever held it has ended, and the folder went with that.
    if (path_exists(folder) || attempt == k_prefix_attempts) {
      return tl::unexpected<Error>(std::move(lock.error()));
    }
  }
}

/// The record goes last, so that what is left can always be told from somebody's own files.
Result<void> remove_in_place(const fs::path& standing) {
  CUKIT_TRY(store::allow_move(standing));
  CUKIT_TRY_ASSIGN(const auto names, list_directory(standing));
  for (const auto& name : names) {
    if (name != k_record) {
      CUKIT_TRY(remove_tree(standing / name));
    }
  }
  return remove_tree(standing);
}

Result<void> take_away(const Journal& journal, const fs::path& prefix) {
  const auto aside = journal.folder / "replaced";
  CUKIT_TRY(remove_tree(aside));
  CUKIT_TRY(store::allow_move(prefix));
  if (::rename(prefix.c_str(), aside.c_str()) == 0) {
    return {};
  }
  // A folder of an overlay's lower layer cannot be moved.
  return errno == EXDEV ? remove_in_place(prefix)
                        : fail_errno(errno, "cannot take {} away", prefix.string());
}

Result<void> finish(const Journal& journal, const fs::path& prefix) {
  for (int attempt = 0; path_exists(journal.tree()); ++attempt) {
    if (attempt == k_prefix_attempts) {
      return no_place(prefix, "is made again and again by somebody else", "run the command again");
    }
    if (path_exists(prefix)) {
      CUKIT_TRY(check_standing(prefix, prefix));
      CUKIT_TRY(take_away(journal, prefix));
    }
    CUKIT_TRY(rename_no_replace(journal.tree(), prefix)); // false: somebody made something there
  }
  CUKIT_TRY(sync_directory(prefix.parent_path()));
  // Out of the way first: who waits for the lock makes a journal of its own.
  const auto rest =
      prefix.parent_path() / fmt::format("{}{}", temporary::k_prefix, unique_suffix());
  CUKIT_TRY(rename_path(journal.folder, rest));
  return remove_tree(rest);
}

Result<void> switch_by_journal(const fs::path& fresh, const fs::path& prefix,
                               const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(auto journal, open_journal(prefix, stop));
  if (path_exists(journal.tree())) { // of a run that was killed after ours had looked
    CUKIT_TRY(finish(journal, prefix));
    CUKIT_TRY_ASSIGN(journal, open_journal(prefix, stop));
  }
  CUKIT_TRY(rename_path(fresh, journal.tree()));
  CUKIT_TRY(sync_directory(journal.folder));
  CUKIT_TRY(sync_directory(prefix.parent_path()));
  return finish(journal, prefix);
}

/// One exchange; false: there is nothing to exchange with, or the file system has no exchange.
Result<bool> exchange(const fs::path& fresh, const fs::path& prefix) {
  CUKIT_TRY(check_standing(prefix, prefix));
  CUKIT_TRY(store::allow_move(prefix));
  CUKIT_TRY_ASSIGN(const bool exchanged, try_exchange(fresh, prefix));
  if (!exchanged) {
    return false;
  }
  if (auto may_go = check_standing(fresh, prefix); !may_go) { // a file came at the last moment
    CUKIT_TRY(try_exchange(fresh, prefix));
    return tl::unexpected<Error>(std::move(may_go.error()));
  }
  return true;
}

} // namespace

Result<void> check_prefix(const fs::path& prefix) {
  if (is_in_store(prefix)) {
    return no_place(prefix, "is the place of a tree in a store", "name a folder of its own");
  }
  return path_exists(prefix) ? check_standing(prefix, prefix) : Result<void>();
}

Result<void> check_switch(const fs::path& prefix) {
  return is_mount(prefix) ? no_place(prefix, "is a mount, which cannot be replaced in one step",
                                     "name a folder inside it")
                          : Result<void>();
}

Result<void> switch_prefix(const fs::path& fresh, const fs::path& prefix,
                           const std::stop_token& stop) {
  for (int attempt = 0; attempt < k_prefix_attempts; ++attempt) {
    if (!path_exists(prefix)) {
      CUKIT_TRY_ASSIGN(const bool placed, rename_no_replace(fresh, prefix));
      if (!placed) {
        continue;
      }
      return sync_directory(prefix.parent_path());
    }
    auto exchanged = exchange(fresh, prefix);
    if (!path_exists(prefix)) {
      continue; // it was taken away meanwhile
    }
    CUKIT_TRY(exchanged);
    return *exchanged ? sync_directory(prefix.parent_path())
                      : switch_by_journal(fresh, prefix, stop);
  }
  return no_place(prefix, "is made and removed again by somebody else", "run the command again");
}

Result<void> finish_switch(const fs::path& prefix, const std::stop_token& stop) {
  if (!path_exists(journal_folder(prefix))) {
    return {};
  }
  CUKIT_TRY_ASSIGN(const auto journal, open_journal(prefix, stop));
  return finish(journal, prefix);
}

} // namespace cukit::pipeline
