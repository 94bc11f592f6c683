// Locked artifacts to store entries: locate, download, audit, unpack and commit, overlapping across
// artifacts. Other processes that want the same entries wait for this one instead of doing the work
// twice.
#pragma once

#include "pipeline/session.hpp"

#include <map>

namespace cukit::pipeline {

/// By lock::store_key; the values keep gc away. What is in the store already costs nothing; nothing
/// is committed unless everything of this call is durable.
Result<std::map<std::string, store::Entry>> obtain_entries(Session& session,
                                                           const lock::PlatformLock& platform);

struct Missing {
  std::string file;
  std::uint64_t bytes = 0; ///< to download; 0 for a part that is read by ranges
  bool ranged = false;
};
/// What obtain_entries would have to bring.
std::vector<Missing> missing_entries(const Session& session, const lock::PlatformLock& platform);

} // namespace cukit::pipeline
