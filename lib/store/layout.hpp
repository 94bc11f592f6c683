// The folders of CUKIT_HOME, as lib/README.md describes them. One owner writes; a newer layout is
// refused by name. Below a private home may stand the system store of the machine: its owner alone
// writes it (`--system`), everybody else uses its entries and trees where they are.
#pragma once

#include "base/environment.hpp"
#include "base/file_lock.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace cukit::store {

constexpr int k_layout_version = 1;

struct Home {
  fs::path root;          ///< store/ trees/ names/ reports/ staging/ locks/ logs/
  fs::path cache;         ///< deletable at any time: pages/ downloads/ jit/
  fs::path system = {};   ///< a second place to look in, never written; may be empty
  bool is_system = false; ///< this is the system store: only its owner may prepare() it
  bool no_lock = false;   ///< --no-lock: go on where the file system keeps no locks

  [[nodiscard]] fs::path store() const { return root / "store"; }
  [[nodiscard]] fs::path trees() const { return root / "trees"; }
  [[nodiscard]] fs::path names() const { return root / "names"; }
  [[nodiscard]] fs::path reports() const { return root / "reports"; }
  [[nodiscard]] fs::path staging() const { return root / "staging"; }
  [[nodiscard]] fs::path locks() const { return root / "locks"; }
  [[nodiscard]] fs::path logs() const { return root / "logs"; }
  [[nodiscard]] fs::path downloads() const { return cache / "downloads"; }
  /// Where the tree of that id stands: here, else in the system store, else where it would stand.
  [[nodiscard]] fs::path tree(std::string_view id) const;
  /// The system store as a home of its own; empty when there is none.
  [[nodiscard]] std::optional<Home> system_home() const;
  [[nodiscard]] fs::path jit(std::string_view tree_id) const { return cache / "jit" / tree_id; }
};

/// CUKIT_HOME (cache below it), else XDG_DATA_HOME/cukit and XDG_CACHE_HOME/cukit, else below HOME.
/// Relative values of the XDG variables are ignored, as the specification asks; a relative
/// CUKIT_HOME counts from the working folder. Creates nothing.
/// The system store (CUKIT_SYSTEM_HOME, else /opt/cukit; `none`: there is none) is looked in second
/// when it is there, and refused when others than its owner can write it, or when its owner is
/// neither root nor this user.
Result<Home> find_home(const Environment& environment);
/// The system store itself, for `--system`.
Result<Home> find_system_home(const Environment& environment);
/// Creates what is missing and checks the layout's version; of a system store that somebody else
/// owns an error.
Result<void> prepare(const Home& home);

/// locks/<name>. With home.no_lock a file system that keeps no locks counts as one on which nobody
/// else is at work.
Result<FileLock> lock(const Home& home, const std::string& name, FileLock::Mode mode,
                      const std::stop_token& stop,
                      const std::function<void(int holder)>& on_wait = {});

FileLock::WithoutLocks without_locks(const Home& home);

/// A folder of its own in staging/ that holds a lock as long as the value lives; what a killed
/// process left behind has a free lock and is removed by sweep(). The lock's file is `.lock` in the
/// folder, so what is staged goes into a folder inside it and is moved out by rename.
class Staging {
public:
  static Result<Staging> create(const Home& home);
  [[nodiscard]] const fs::path& path() const { return directory_.path(); }

private:
  Staging(FileLock lock, TempDirectory directory)
      : lock_(std::move(lock)), directory_(std::move(directory)) {}
  FileLock lock_; // declared first: it is let go after the folder is gone
  TempDirectory directory_;
};
/// Removes staging folders whose lock is free; returns how many. Another sweep at work: 0. On a
/// network file system, where a lock of another machine may not be seen, only those of yesterday.
Result<int> sweep(const Home& home);

/// The staging folders whose lock is free and which nobody touched for `age`, now being `now`
/// (seconds since 1970).
Result<std::vector<fs::path>> abandoned(const Home& home, std::chrono::seconds age,
                                        std::int64_t now);
/// Removes these and returns them.
Result<std::vector<fs::path>> sweep(const Home& home, std::chrono::seconds age, std::int64_t now);

} // namespace cukit::store
