// Changes of a Python environment that can be taken back, byte for byte, and that are whole or
// absent whenever the process or the machine stops.
//
// .cukit-venv/lock            held by whoever changes the environment
// .cukit-venv/gen/<n>/new/    files on their way in, by their path below site-packages
//                    /old/    what they replaced: the same files, not copies, where names can be
//                             added (an environment of uv's shares them with its cache)
//                    /journal.json   written when `new` is whole and on disk
//                    /saved   `old` is whole and on disk: from here on the change goes forward
//                    /done    all has its place
//                    /undoing it is being taken back
//
// Nothing of the environment is touched before `saved`; after it each file takes its place by one
// rename, so a file that is hard-linked elsewhere, or mapped by a program, is never written into.
#pragma once

#include "base/file_lock.hpp"
#include "venv/place.hpp"

#include <optional>

namespace cukit::venv {

/// What stands at a path: empty for nothing, `sha256:...` for a file, `link:TARGET` for a link.
using Identity = std::string;
Result<Identity> identity_of(const fs::path& path);

struct Row {
  std::string path; ///< below site-packages
  Identity before;
  Identity after;
};

struct Journal {
  int number = 0;
  fs::path folder; ///< .cukit-venv/gen/<n>
  fs::path site;
  std::string what; ///< for people: "nvidia-nvvm 13.2.78 -> 13.0.88"
  std::string time; ///< UTC, ISO 8601
  std::vector<Row> rows;
  std::vector<std::string> folders = {}; ///< that stood above the rows before it, parents first
  bool is_done = false;
  bool is_undoing = false;
};

/// Whoever changes an environment holds it.
struct HeldPlace {
  FileLock lock;
  /// What was found unfinished and what became of it, one sentence each.
  std::vector<std::string> recovered = {};
  std::vector<int> taken_back = {}; ///< changes whose taking back was ended now
};
/// Ends what an earlier run left: a change that had begun is completed, one that had not is thrown
/// away, taking back goes on. Code host when another process is at work there.
Result<HeldPlace> hold(const Place& place);

/// Whether a change was stopped midway, so that the environment is neither as before nor as after.
bool is_unfinished(const Place& place);

/// Those that are done and not taken back, oldest first.
Result<std::vector<Journal>> list_journals(const Place& place);

/// An empty folder for the next change, with `new` in it. The value's rows are to be filled.
Result<Journal> begin(const Place& place, const fs::path& site);
/// Makes the change: every row whose `after` is not empty has its file in `new`. When something
/// stops it midway everything is as it was.
Result<void> commit(Journal& journal);
/// Throws away a change that was not committed.
Result<void> abandon(const Journal& journal);

/// Takes a change back. What somebody else changed since is left as it is and named; then the
/// journal stays.
Result<std::vector<std::string>> undo(Journal& journal);

} // namespace cukit::venv
