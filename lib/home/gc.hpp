// What may go: trees that no generation of any name has, store entries that no generation's lock
// asks for, JIT caches of trees that are gone, staging folders of dead processes, and after a while
// reports that no generation names and downloads that nobody went on with. Generations
// themselves go only when they are asked for by age, by number or by name, because `env` printed
// the paths of their trees into people's profiles.
//
// Safe beside every other command: users of an entry or a tree hold its folder (store/hold.hpp), a
// folder goes only when gc gets the lock alone, and the roots are read again while it has it.
// The cost grows with the number of files that are looked at, not with its square.
#pragma once

#include "home/roots.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cukit::home {

struct GcOptions {
  std::optional<std::chrono::seconds> older_than; ///< drop generations made longer ago
  std::optional<int> keep;                        ///< drop all but the newest so many of a name
  std::string name; ///< of this name alone; without the other two: the name as a whole
  /// A staging folder whose lock is free goes only when it is that old: on a shared file system a
  /// lock of another machine may not be seen here.
  std::chrono::seconds staging_age = std::chrono::hours(1); ///< of reports too
  /// A download that nobody went on with stays so long: the next run may resume it.
  std::chrono::seconds download_age = std::chrono::hours(7 * 24);
  bool has_no_limit() const { return !older_than && !keep; }
};

struct DroppedGeneration {
  std::string name;
  int number = 0;
  std::string tree;
  bool current = false; ///< goes only with its whole name
};

struct Garbage {
  std::vector<DroppedGeneration> generations;
  std::vector<std::string> trees;   ///< ids
  std::vector<std::string> entries; ///< keys
  std::vector<fs::path> caches;
  std::vector<fs::path> staging;
  std::vector<fs::path> reports;   ///< files
  std::vector<fs::path> downloads; ///< files
  std::uint64_t bytes = 0; ///< that the disk gets back: files with names elsewhere do not count; of
                           ///< what was removed, those that it got
  std::shared_ptr<RootsMemory> roots = {}; ///< what was read to find it, for collect()
  [[nodiscard]] bool empty() const {
    return generations.empty() && trees.empty() && entries.empty() && caches.empty() &&
           staging.empty() && reports.empty() && downloads.empty();
  }
};

/// Looks and changes nothing. `now` in seconds since 1970.
Result<Garbage> find_garbage(const store::Home& home, const GcOptions& options, std::int64_t now,
                             const std::stop_token& stop);

struct Collected {
  Garbage removed;
  std::vector<std::string> in_use; ///< trees and entries that somebody holds or names by now
};
/// Removes what was found, as far as nobody uses it by now. Killed at any moment it leaves whole
/// trees and entries, and the rest in staging/.
Result<Collected> collect(const store::Home& home, const Garbage& garbage, const GcOptions& options,
                          std::int64_t now, const std::stop_token& stop);

} // namespace cukit::home
