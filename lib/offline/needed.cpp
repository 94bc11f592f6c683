#include "offline/needed.hpp"

#include <algorithm>

namespace cukit::offline {

namespace {

Result<Needs> needs_of(const std::vector<pipeline::Locked>& locks,
                       const std::vector<Platform>& platforms, bool parts) {
  std::map<std::string, const lock::Artifact*>
      found; // sorted, so that equal locks give equal lists
  Needs needs;
  for (const auto& locked : locks) {
    for (const auto platform : platforms) {
      if (locked.lock.find(platform) == nullptr) {
        Error error{.code = ErrorCode::expected_no, .message = {}, .where = locked.path.string()};
        error.message = fmt::format("the lock is not for {}", platform.text());
        error.hint = "add it to `platforms` of the manifest";
        return tl::unexpected<Error>(std::move(error));
      }
    }
    for (const auto& part : locked.lock.platforms) {
      const bool is_wanted = platforms.empty() || std::find(platforms.begin(), platforms.end(),
                                                            part.platform) != platforms.end();
      if (!is_wanted) {
        continue;
      }
      for (const auto& artifact : part.artifacts) {
        found.emplace(parts ? lock::store_key(artifact) : artifact.sha256.hex(), &artifact);
      }
    }
    needs.pins.insert(locked.lock.pins.begin(), locked.lock.pins.end());
  }
  for (const auto& [key, artifact] : found) {
    needs.artifacts.push_back(artifact);
  }
  return needs;
}

} // namespace

pipeline::Outcome<Needed> find_needed(pipeline::Session& session,
                                      const std::vector<fs::path>& manifests,
                                      const std::vector<Platform>& platforms, bool parts) {
  Needed result;
  for (const auto& manifest : manifests) {
    CUKIT_TRY_ASSIGN(auto locked, pipeline::ensure_lock(session, manifest));
    result.locks.push_back(std::move(locked));
  }
  CUKIT_TRY_ASSIGN(result.needs, needs_of(result.locks, platforms, parts));
  return result;
}

} // namespace cukit::offline
