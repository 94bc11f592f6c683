// The folders of CUKIT_HOME, as the README describes them. One owner writes; a newer layout is
// refused by name.
#pragma once

#include "base/environment.hpp"
#include "base/file_lock.hpp"

namespace cukit::store {

constexpr int k_layout_version = 1;

struct Home {
  fs::path root;  ///< store/ trees/ names/ reports/ staging/ locks/ logs/
  fs::path cache; ///< deletable at any time: pages/ downloads/ jit/

  [[nodiscard]] fs::path store() const { return root / "store"; }
  [[nodiscard]] fs::path trees() const { return root / "trees"; }
  [[nodiscard]] fs::path names() const { return root / "names"; }
  [[nodiscard]] fs::path reports() const { return root / "reports"; }
  [[nodiscard]] fs::path staging() const { return root / "staging"; }
  [[nodiscard]] fs::path locks() const { return root / "locks"; }
  [[nodiscard]] fs::path logs() const { return root / "logs"; }
  [[nodiscard]] fs::path downloads() const { return cache / "downloads"; }
  [[nodiscard]] fs::path jit(std::string_view tree_id) const { return cache / "jit" / tree_id; }
};

/// CUKIT_HOME (cache below it), else XDG_DATA_HOME/cukit and XDG_CACHE_HOME/cukit, else below HOME.
/// Relative values of the XDG variables are ignored, as the specification asks; a relative
/// CUKIT_HOME counts from the working folder. Creates nothing.
Result<Home> find_home(const Environment& environment);
/// Creates what is missing and checks the layout's version.
Result<void> prepare(const Home& home);

/// locks/<name>, exclusive unless said otherwise.
Result<FileLock> lock(const Home& home, const std::string& name, FileLock::Mode mode,
                      const std::stop_token& stop,
                      const std::function<void(int holder)>& on_wait = {});

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
/// Removes staging folders whose lock is free; returns how many. Another sweep at work: 0.
Result<int> sweep(const Home& home);

} // namespace cukit::store
