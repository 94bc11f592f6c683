// Lists of GPU targets as consumers spell them.
#pragma once

#include "knowledge/knowledge.hpp"

namespace cukit::knowledge {

/// `9.0a 12.0f`, `9.0;12.0`, `90;120`: what a variable must hold for these targets.
[[nodiscard]] std::string architecture_list(const ArchVariable& variable,
                                            const std::vector<GpuTarget>& gpus);

} // namespace cukit::knowledge
