#pragma once

#include "knowledge/knowledge.hpp"

namespace cukit::knowledge {

/// The suites that the kernels of validation are in, sorted.
Result<std::vector<std::string>> suite_names(const Knowledge& knowledge);

} // namespace cukit::knowledge
