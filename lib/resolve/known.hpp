// Releases as the recipes' tables know them, without any source having been asked: they say which
// sources are worth asking, and whether another one would have served.
#pragma once

#include "resolve/search.hpp"

namespace cukit::resolve {

/// Toolkits of all releases in all sources, in the order of preference; `release` of each is null.
/// What a table does not say (it is not complete) counts as there.
std::vector<Candidate> known_candidates(const manifest::Manifest& manifest, const Facts& facts);

struct SourcePlan {
  std::vector<std::string> order; ///< sources that may be used, the preferred one first
  bool is_stated = false;         ///< the manifest says so
  bool ask_wheels = true;
  bool ask_redist = false;
  bool may_ask_redist = false;     ///< redist could serve, should the wheels not
  std::vector<std::string> minors; ///< of releases in redist that could serve ("12.8"), or all
  std::vector<int> majors;         ///< of releases in any source that could serve, or none
  std::string why_redist = {};     ///< why wheels alone cannot serve, where they cannot
};

/// An absent `sources` means wheels, and redist where the wheels cannot serve: they inflate several
/// times faster than archives decode, and give headers by ranges, but those of CUDA 12 hold no
/// nvcc.
Result<SourcePlan> plan_sources(const manifest::Manifest& manifest, const Facts& facts);

} // namespace cukit::resolve
