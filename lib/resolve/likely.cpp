#include "resolve/likely.hpp"

#include "resolve/known.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

/// ptxas, CCCL and the binary utilities may come from a release beside the chosen one.
bool borrows(const manifest::Manifest& manifest, const Problem& problem) {
  return manifest.ptxas || manifest.cccl ||
         std::any_of(problem.parts.begin(), problem.parts.end(), [](const Part& part) {
           return part.component->follows == "binutils" || part.component->follows == "own";
         });
}

} // namespace

Result<std::vector<std::string>> likely_minors(const manifest::Manifest& manifest,
                                               const knowledge::Knowledge& knowledge,
                                               const MachineFacts& machine,
                                               const lock::Lock* earlier) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load_with_tables(knowledge));
  CUKIT_TRY_ASSIGN(const auto problem, make_problem(manifest, facts, machine, false));
  const bool names_prerelease = manifest.nvcc && manifest.nvcc->value.names_prerelease();
  if (borrows(manifest, problem) || names_prerelease) {
    return std::vector<std::string>();
  }
  const auto known = known_candidates(manifest, facts);
  const auto first = first_allowed(problem, known);
  if (!first) {
    return std::vector<std::string>();
  }
  std::vector<std::string> result{known[*first].toolkit.release.major_minor()};
  if (earlier != nullptr && earlier->release != Version() &&
      earlier->release.major_minor() != result.front()) {
    result.push_back(earlier->release.major_minor());
  }
  return result;
}

} // namespace cukit::resolve
