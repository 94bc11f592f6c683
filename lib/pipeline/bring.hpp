// Locked artifacts from whichever place gives them: whole files by fetch, parts by byte ranges, all
// at once, each from the next place when one fails. What is done with the bytes is the caller's.
#pragma once

#include "fetch/fetch.hpp"
#include "pipeline/locate.hpp"

namespace cukit::pipeline {

/// Files that are unpacked side by side: more would only cost open files and buffers.
constexpr unsigned k_most_at_once = 16;

struct Brought {
  const lock::Artifact* artifact = nullptr;
  bool by_ranges = false;          ///< only what the lock names of it; else the whole file
  std::optional<Error> error = {}; ///< out: why it did not come
};

struct Handlers {
  /// A whole file with the locked digest, to be let go after use; on a worker thread, several at
  /// once.
  std::function<Result<void>(std::size_t index, fetch::Blob blob)> whole;
  /// A file to be read in parts, whose RECORD is still to be compared; on a worker thread.
  /// After an error that is the source's fault it is called again for another place.
  std::function<Result<void>(std::size_t index, const RandomAccess& file)> part;
};

/// Returns after everything has ended, well or not: `error` tells. Files are downloaded to
/// `folder`. A server that fails at byte ranges is asked once for the whole file. An error of the
/// call itself means that nothing could be begun.
Result<void> bring(Session& session, std::vector<Brought>& all, const fs::path& folder,
                   const Handlers& handlers);
/// An interruption, else the first error of `all`.
Result<void> first_failure(const Session& session, std::vector<Brought>& all);

} // namespace cukit::pipeline
