#include "resolve/forward.hpp"

#include "fit/machine.hpp"
#include "knowledge/forward.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

constexpr const char* k_guide = "CUDA Compatibility guide: forward compatibility";

/// The first release of the toolkit's major: its own driver branch reaches the floor, so its
/// package is enough where nothing asks for more.
const knowledge::Release* package_release(const Facts& facts, const Toolkit& toolkit) {
  return knowledge::find_release(*facts.releases, toolkit.release);
}

} // namespace

Result<std::optional<WayOut>> forward_way(const manifest::Manifest& manifest, const Facts& facts,
                                          const Problem& problem, const Toolkit& toolkit) {
  const auto* release = package_release(facts, toolkit);
  // The table of base drivers is not known; a branch that no release here starts on is in none.
  const bool is_too_old =
      fit::runs_on_driver(facts.releases->front(), problem.oldest_driver).is_refused();
  if (problem.gpus.empty() || release == nullptr || is_too_old) {
    return std::optional<WayOut>();
  }
  CUKIT_TRY_ASSIGN(const auto rules, knowledge::forward_compatibility(*facts.knowledge));
  const bool is_eligible =
      std::all_of(problem.gpus.begin(), problem.gpus.end(), [&](const GpuTarget& target) {
        const auto wish =
            std::find_if(manifest.gpus.begin(), manifest.gpus.end(),
                         [&](const auto& candidate) { return candidate.value == target; });
        return rules.allows(target, wish == manifest.gpus.end() ? "" : wish->text);
      });
  if (!is_eligible) {
    return std::optional<WayOut>();
  }
  const auto package =
      fmt::format("cuda-compat-{}-{}", release->minor.major(), release->minor.minor());
  const auto folder = fmt::format("/usr/local/cuda-{}/compat", release->minor.major_minor());
  WayOut way{.change = fmt::format("driver: >={} instead of {}, with {} on the nodes of branch {}",
                                   release->driver_floor,
                                   manifest.driver ? manifest.driver->text : "native", package,
                                   problem.oldest_driver.major()),
             .result = fmt::format("CUDA {} with nvcc {}; the kernel module stays",
                                   toolkit.release.text(), toolkit.nvcc.text())};
  way.steps = {
      fmt::format("install {} on the node: libcuda of branch {} in {}", package,
                  release->driver_branch, folder),
      fmt::format("start the programs with LD_LIBRARY_PATH={}:$LD_LIBRARY_PATH", folder),
      fmt::format("look the installed branch up in the table of supported base drivers [{}]",
                  k_guide),
      "error 803 means that another libcuda came first, 804 that the GPU is not eligible"};
  return std::optional<WayOut>(std::move(way));
}

} // namespace cukit::resolve
