#include "resolve/resolve.hpp"

#include "resolve/compose.hpp"
#include "resolve/conflict.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

bool names_prerelease(const manifest::Manifest& manifest) {
  return (manifest.nvcc && manifest.nvcc->value.names_prerelease()) ||
         (manifest.ptxas && manifest.ptxas->value.names_prerelease());
}

} // namespace

Result<Wanted> wanted(const manifest::Manifest& manifest, const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(knowledge));
  CUKIT_TRY_ASSIGN(const auto list, parts(manifest, facts));
  Wanted result;
  result.prereleases = names_prerelease(manifest);
  result.projects.emplace_back(k_toolkit_project);
  // The rules compare with nvcc, the run-time headers and CCCL whatever the manifest takes.
  for (const auto name : {k_nvcc, k_cudart, k_cccl}) {
    CUKIT_TRY_ASSIGN(const auto* component, facts.component(name));
    result.projects.push_back(component->project);
  }
  for (const auto& part : list) {
    result.projects.push_back(part.component->project);
  }
  std::sort(result.projects.begin(), result.projects.end());
  result.projects.erase(std::unique(result.projects.begin(), result.projects.end()),
                        result.projects.end());
  for (const auto& release : *facts.releases) {
    if (!rules::compiler_wheels(release.minor)) {
      result.minors.push_back(release.minor.major_minor());
    }
  }
  return result;
}

Result<std::variant<Resolution, Conflict>>
resolve(const manifest::Manifest& manifest, const knowledge::Knowledge& knowledge,
        const catalog::Catalog& catalog, const MachineFacts& machine, const lock::Lock* earlier) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(knowledge));
  CUKIT_TRY_ASSIGN(const auto* nvcc, facts.component(k_nvcc));
  if (manifest.ptxas && !nvcc->parts.contains(std::string(k_ptxas_part))) {
    return fail(ErrorCode::usage, "the recipe of nvcc does not say which files are its ptxas part");
  }
  const bool has_locked_gpus = earlier != nullptr && earlier->observed_gpus && machine.gpus.empty();
  CUKIT_TRY_ASSIGN(const auto problem, make_problem(manifest, facts, machine, !has_locked_gpus));
  const Offer offer(catalog, facts, earlier, names_prerelease(manifest));
  const auto list = candidates(manifest, facts, offer, problem.platforms, earlier);
  const auto chosen = first_allowed(problem, list);
  if (!chosen) {
    CUKIT_TRY_ASSIGN(auto conflict, explain_conflict(manifest, facts, problem, offer, list));
    return std::variant<Resolution, Conflict>(std::move(conflict));
  }
  const Inputs inputs{
      .manifest = manifest, .facts = facts, .problem = problem, .offer = offer, .earlier = earlier};
  CUKIT_TRY_ASSIGN(auto resolution, compose(inputs, list[*chosen]));
  resolution.notes = notes(inputs, list[*chosen], machine);
  return std::variant<Resolution, Conflict>(std::move(resolution));
}

} // namespace cukit::resolve
