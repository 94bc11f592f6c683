// What several locks need together: for folders and files that serve machines without a network.
#pragma once

#include "pipeline/locking.hpp"

namespace cukit::pipeline {

/// One lock for each manifest, made where it is missing or stale.
Outcome<std::vector<Locked>> lock_all(Session& session, const std::vector<fs::path>& manifests);

struct Needs {
  std::vector<const lock::Artifact*> artifacts; ///< each once: by sha256, or by store key
  std::map<std::string, Sha256> pins;           ///< metapackages and manifests, to lock again from
};

/// Of the named platforms, all of them when none is named; one that a lock lacks is an error.
/// `parts`: what is wanted of an artifact counts apart. Points into `locks`.
Result<Needs> needs_of(const std::vector<Locked>& locks, const std::vector<Platform>& platforms,
                       bool parts);

} // namespace cukit::pipeline
