// Who builds on this machine: what harms a build alone is an error for them, a warning for others.
#include "doctor/context.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

/// What a log shows failing was a build, not a program that ran.
bool is_of_a_build(const buildlog::Facts& facts) {
  using buildlog::Thing;
  const auto is_of_a_tool = [](const buildlog::Failure& failure) {
    switch (failure.thing) {
    case Thing::header:
    case Thing::tool:
    case Thing::option:
    case Thing::target:
    case Thing::host_compiler:
    case Thing::package:
    case Thing::cmake_target:
    case Thing::code:
      return true;
    default:
      return false;
    }
  };
  return !facts.commands.empty() || !facts.endings.empty() || !facts.packages.empty() ||
         facts.is_isolated_build ||
         std::any_of(facts.failures.begin(), facts.failures.end(), is_of_a_tool);
}

/// A toolkit with the headers of the maths libraries, beside a C++ compiler: somebody installed it
/// to develop with. Compilers alone come with packages that only run things. Extensions of torch
/// are built with a toolkit of its own major, or not at all.
bool is_equipped_for(const survey::Snapshot& snapshot, const Found& found) {
  constexpr const char* k_headers[] = {"curand.h", "cublas_v2.h", "cusparse.h", "cusolverDn.h"};
  const auto* python = found.recipe->discovery.has_torch_major ? found.python : nullptr;
  const auto* torch_cuda =
      python != nullptr && !python->torch_cuda.empty() ? &python->torch_cuda : nullptr;
  return !snapshot.compilers.empty() &&
         std::any_of(snapshot.toolkits.begin(), snapshot.toolkits.end(), [&](const auto& kit) {
           return kit.tools.contains("nvcc") && !kit.cudart.empty() &&
                  (torch_cuda == nullptr || major_of(*torch_cuda) == major_of(kit.cudart)) &&
                  std::any_of(std::begin(k_headers), std::end(k_headers),
                              [&](const char* name) { return kit.headers.contains(name); });
         });
}

/// Whether one of those that a finding is about compiles when it is used, was asked about, has left
/// behind what it built, or finds here what one installs to build with it.
bool is_about_a_builder(const Context& context, const Finding& finding) {
  const auto& names = finding.consumers;
  return std::any_of(context.found.begin(), context.found.end(), [&](const auto& found) {
    const bool is_meant =
        names.empty() ? found.compiles == "nvcc"
                      : std::find(names.begin(), names.end(), found.consumer) != names.end();
    const auto& caches = context.snapshot.caches;
    return is_meant && (found.is_asked || compiles_when_used(found) ||
                        is_equipped_for(context.snapshot, found) ||
                        std::any_of(caches.begin(), caches.end(), [&](const auto& entry) {
                          return entry.consumer == found.consumer;
                        }));
  });
}

} // namespace

bool is_needless(const Found& found) {
  const auto& other = found.recipe->discovery.replaced_by;
  return found.python != nullptr && !other.empty() &&
         survey::find_distribution(*found.python, other) != nullptr;
}

bool compiles_when_used(const Found& found) {
  return found.is_runtime && !is_needless(found);
}

void weigh_for_builders(const Context& context, std::vector<Finding>& findings) {
  if (is_of_a_build(context.log.facts)) {
    return;
  }
  for (auto& finding : findings) {
    if (finding.concerns_builds && finding.severity == Severity::error && finding.log_line == 0 &&
        !is_about_a_builder(context, finding)) {
      finding.severity = Severity::warning;
      finding.is_latent = true;
    }
  }
}

} // namespace cukit::doctor
