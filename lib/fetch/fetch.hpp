// Locked artifacts to verified files: parallel, resumed after a break, size and sha256 checked
// while the bytes stream in. What comes out has the locked digest; anything else was deleted again.
#pragma once

#include "base/file_lock.hpp"
#include "base/files.hpp"
#include "base/progress.hpp"
#include "base/sha256.hpp"
#include "http/client.hpp"

#include <functional>
#include <memory>
#include <stop_token>

namespace cukit::fetch {

struct Wanted {
  std::string file; ///< for messages
  std::uint64_t size = 0;
  Sha256 sha256;
  std::vector<std::string>
      locations; ///< URLs and absolute paths, in order of preference; each is tried
};

struct Blob {
  fs::path path;
  bool owned = false; ///< lies in the cache and is let go after use; false: a mirror's own file,
                      ///< read in place
  std::uint64_t downloaded = 0; ///< bytes that came over the network for it in this call
  /// Of an owned one: as long as a copy of this lives, no other command removes the file.
  std::shared_ptr<Fd> hold = {};
};

/// After use: an owned file goes, unless another command holds it or is about to; the last one
/// removes it. Never an error: a leftover in the cache harms nothing.
void let_go(Blob blob, FileLock::WithoutLocks without_locks);
/// Whether a command holds this finished download.
bool is_held(const fs::path& file);

struct Options {
  fs::path folder; ///< for `<sha256>.part` with `<sha256>.part.json` beside it, and the finished
                   ///< `<sha256>`
  int parallel = 6;
  http::Options http = {};                                               ///< retry delays
  FileLock::WithoutLocks without_locks = FileLock::WithoutLocks::refuse; ///< of `folder`
};

/// Fetches all; `done(index, result)` is called as each ends, on the calling thread, in the order
/// of completion. A digest that is wrong after a resume is tried once from the start; wrong again,
/// or on another location: integrity error with both values. Returns the first error after
/// everything ended (a failure does not stop the others), or `interrupted`.
Result<void> fetch_all(http::Client& client, const std::vector<Wanted>& wanted,
                       const Options& options,
                       const std::function<void(std::size_t index, Result<Blob> result)>& done,
                       Progress& progress, const std::stop_token& stop);

} // namespace cukit::fetch
