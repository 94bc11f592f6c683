// Where a newer user-mode driver may run on an older kernel module (the cuda-compat package).
#pragma once

#include "knowledge/knowledge.hpp"

namespace cukit::knowledge {

struct ForwardCompatibility {
  std::vector<GpuTarget> targets;    ///< every product of the target is eligible
  std::vector<std::string> products; ///< of other targets, by the names of the recipes
  std::string evidence;

  /// `name`: as a person or the driver names the GPU, may be a target.
  [[nodiscard]] bool allows(const GpuTarget& target, std::string_view name) const;
};

/// recipes/knowledge/forward.yaml.
Result<ForwardCompatibility> forward_compatibility(const Knowledge& knowledge);

} // namespace cukit::knowledge
