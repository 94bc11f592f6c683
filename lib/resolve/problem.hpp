// A manifest as demands (what a person wished, with its line) and constraints (rules that bind one
// or several demands). A constraint is in force when all its demands are, so that dropping a demand
// only ever allows more: that is what makes conflicts minimal by deletion.
#pragma once

#include "resolve/parts.hpp"
#include "resolve/resolve.hpp"
#include "resolve/toolkit.hpp"

#include <functional>

namespace cukit::resolve {

enum class Topic {
  source,
  platform,
  component,
  host,
  consumer,
  native_driver,
  driver,
  native_gpus,
  gpu,
  pytorch,
  cccl,
  headers,
  ptxas,
  nvcc
};

struct Wished {
  Topic topic = Topic::nvcc;
  std::size_t index = 0; ///< in the manifest's list
  std::string key;       ///< toolkit.nvcc
  std::string value;     ///< as written
  text::Position at;
  [[nodiscard]] std::string text() const { return key + ": " + value; }
};

struct Constraint {
  std::vector<std::size_t> demands; ///< empty: always in force
  std::function<rules::Verdict(const Toolkit&)> check;
};

struct Problem {
  std::vector<Wished> demands; ///< in the order of Topic, then of the manifest
  std::vector<Constraint> constraints;
  std::vector<Part> parts;
  std::vector<Platform> platforms;
  std::vector<GpuTarget> gpus; ///< sorted, no two equal, with those of this machine for `native`
  Version oldest_driver;       ///< as the manifest has it; 0 when it does not say

  [[nodiscard]] std::optional<std::size_t> find(Topic topic, std::size_t index = 0) const;
};

/// `must_show`: a `native` wish that this machine cannot answer is a violation; else it is passed
/// over.
Result<Problem> make_problem(const manifest::Manifest& manifest, const Facts& facts,
                             const MachineFacts& machine, bool must_show);

/// Whether a version wish speaks of builds (13.0.88) or of releases (13.0.2), told by the size of
/// the third number: NVIDIA's builds begin at 25, patch releases have not passed 3.
bool speaks_of_builds(const VersionRange& range);
/// The wish holds for a release and the build of the tool in it.
bool matches(const VersionRange& range, const std::optional<Version>& release,
             const Version& build);
/// The same for CCCL, which a wish may name by its own number (3.2) or by that of its package
/// (13.2.75).
bool matches_cccl(const VersionRange& range, const Version& cccl, const Version& package);

} // namespace cukit::resolve
