#include "resolve/resolve.hpp"

#include "base/log.hpp"
#include "resolve/compose.hpp"
#include "resolve/conflict.hpp"
#include "resolve/known.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

bool names_prerelease(const manifest::Manifest& manifest) {
  return (manifest.nvcc && manifest.nvcc->value.names_prerelease()) ||
         (manifest.ptxas && manifest.ptxas->value.names_prerelease());
}

} // namespace

Result<Wanted> wanted(const manifest::Manifest& manifest, const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load_with_tables(knowledge));
  CUKIT_TRY_ASSIGN(const auto list, parts(manifest, facts));
  CUKIT_TRY_ASSIGN(auto plan, plan_sources(manifest, facts));
  Wanted result;
  result.prereleases = names_prerelease(manifest);
  result.wheels = plan.ask_wheels;
  result.wheels_later = !plan.ask_wheels && !plan.is_stated;
  result.redist = plan.ask_redist;
  result.why_redist = std::move(plan.why_redist);
  result.redist_later = plan.may_ask_redist && !plan.ask_redist;
  result.redist_minors = std::move(plan.minors);
  std::set<std::string> projects{std::string(k_toolkit_project)};
  std::set<std::string> products{"cuda"};
  const auto add = [&](const knowledge::Component& component) {
    for (const int major : plan.majors) {
      projects.insert(component.project_of(*Version::parse(fmt::format("{}", major))));
    }
    if (plan.majors.empty() && component.follows != "own") {
      projects.insert(component.project);
    }
    products.insert(component.redist.product);
  };
  // The rules compare with nvcc, the run-time headers and CCCL whatever the manifest takes.
  for (const auto name : {k_nvcc, k_cudart, k_cccl}) {
    CUKIT_TRY_ASSIGN(const auto* component, facts.component(name));
    add(*component);
  }
  for (const auto& part : list) {
    add(*part.component);
  }
  projects.erase("");
  result.projects.assign(projects.begin(), projects.end());
  result.products.assign(products.begin(), products.end());
  for (const auto& release : *facts.releases) {
    if (!rules::compiler_wheels(*facts.limits, release.minor)) {
      result.minors.push_back(release.minor.major_minor());
    }
  }
  return result;
}

namespace {

/// A source that the manifest does not name would serve: then its naming is part of the conflict.
/// Empty: that is not so.
Result<std::optional<Conflict>> conflict_of_sources(const manifest::Manifest& manifest,
                                                    const Facts& facts, const Problem& problem,
                                                    const Offer& offer) {
  const auto known = known_candidates(manifest, facts);
  const auto set = minimal_conflict(make_matrix(problem, known));
  const auto source = problem.find(Topic::source);
  if (!source || std::find(set.begin(), set.end(), *source) == set.end()) {
    return std::optional<Conflict>();
  }
  CUKIT_TRY_ASSIGN(auto conflict, explain_conflict(manifest, facts, problem, offer, known));
  return std::optional<Conflict>(std::move(conflict));
}

} // namespace

Result<std::variant<Resolution, Conflict>>
resolve(const manifest::Manifest& manifest, const knowledge::Knowledge& knowledge,
        const catalog::Catalog& catalog, const MachineFacts& machine, const lock::Lock* earlier) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load_with_tables(knowledge));
  CUKIT_TRY_ASSIGN(const auto* nvcc, facts.component(k_nvcc));
  if (manifest.ptxas && !nvcc->parts.contains(std::string(k_ptxas_part))) {
    return fail(ErrorCode::usage, "the recipe of nvcc does not say which files are its ptxas part");
  }
  const bool has_locked_gpus = earlier != nullptr && earlier->observed_gpus && machine.gpus.empty();
  CUKIT_TRY_ASSIGN(const auto problem, make_problem(manifest, facts, machine, !has_locked_gpus));
  CUKIT_TRY_ASSIGN(auto plan, plan_sources(manifest, facts));
  const Offer offer(catalog, facts, earlier, names_prerelease(manifest),
                    {.order = std::move(plan.order),
                     .is_stated = plan.is_stated,
                     .redist_minors = std::move(plan.minors)});
  const auto list = candidates(manifest, facts, offer, problem.platforms, earlier);
  const auto chosen = first_allowed(problem, list);
  if (!chosen) {
    CUKIT_TRY_ASSIGN(auto of_sources, conflict_of_sources(manifest, facts, problem, offer));
    if (of_sources) {
      return std::variant<Resolution, Conflict>(*std::move(of_sources));
    }
    CUKIT_TRY_ASSIGN(auto conflict, explain_conflict(manifest, facts, problem, offer, list));
    return std::variant<Resolution, Conflict>(std::move(conflict));
  }
  const Inputs inputs{.manifest = manifest,
                      .facts = facts,
                      .problem = problem,
                      .offer = offer,
                      .earlier = earlier,
                      .is_gpu_assumed = machine.assumed_gpus,
                      .is_driver_assumed = machine.assumed_driver};
  CUKIT_TRY_ASSIGN(auto resolution, compose(inputs, list[*chosen]));
  resolution.notes = notes(inputs, list[*chosen], machine);
  resolution.passed_over = passed_over(problem, list, *chosen);
  for (const auto& other : resolution.passed_over) {
    log_decision("resolve", "passes over CUDA {}: {} ({})", other.release, other.reason,
                 other.source);
  }
  log_decision("resolve", "takes CUDA {}, the best that nothing speaks against",
               resolution.lock.release.text());
  return std::variant<Resolution, Conflict>(std::move(resolution));
}

} // namespace cukit::resolve
