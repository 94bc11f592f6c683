// What several locks need together: for folders and files that serve machines without a network.
#pragma once

#include "pipeline/locking.hpp"

namespace cukit::offline {

struct Needs {
  std::vector<const lock::Artifact*> artifacts; ///< each once: by sha256, or by store key
  std::map<std::string, Sha256> pins;           ///< metapackages and manifests, to lock again from
};

struct Needed {
  std::vector<pipeline::Locked>
      locks;   ///< one for each manifest, made where it was missing or stale
  Needs needs; ///< points into `locks`
};
/// Of the named platforms, all of them when none is named; one that a lock lacks is an error.
/// `parts`: what is wanted of an artifact counts apart.
pipeline::Outcome<Needed> find_needed(pipeline::Session& session,
                                      const std::vector<fs::path>& manifests,
                                      const std::vector<Platform>& platforms, bool parts);

} // namespace cukit::offline
