// The writer of bundles (pipeline/bundle.hpp has their form and reads them).
#pragma once

#include "offline/needed.hpp"

namespace cukit::offline {

struct Bundled {
  std::size_t artifacts = 0;
  std::size_t parts = 0;
  std::uint64_t bytes = 0; ///< of the file
};

/// Writes `file` in one step. Manifests must differ in their file names.
pipeline::Outcome<Bundled> make_bundle(pipeline::Session& session,
                                       const std::vector<fs::path>& manifests, const fs::path& file,
                                       const std::vector<Platform>& platforms);

} // namespace cukit::offline
