// A folder with everything that some manifests need, that a plain web server can serve as it is:
//
//   <project>/<wheel>             wheels, with <project>/index.html as a simple index has it
//   <product>/redist/...          redistributables under NVIDIA's own paths, with their manifests
//
// It is an index (CUKIT_INDEX_URL, pip's --index-url), a mirror (CUKIT_MIRROR) and a base of
// redistributables (CUKIT_REDIST_URL) at once, as a folder and behind a URL.
#pragma once

#include "offline/needed.hpp"

namespace cukit::offline {

struct Mirrored {
  std::size_t files = 0; ///< that the locks need
  std::size_t added = 0; ///< of these, put there now
};

/// Always whole files, also where a lock needs only ranges: the mirror can serve those. Files that
/// are there already are verified and kept. Every file appears whole or not at all; after a failure
/// what has come is kept and the same call goes on.
pipeline::Outcome<Mirrored> mirror(pipeline::Session& session,
                                   const std::vector<fs::path>& manifests, const fs::path& folder,
                                   const std::vector<Platform>& platforms);

} // namespace cukit::offline
