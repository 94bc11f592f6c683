// The child's side of the second question: the driver's management library, which answers where
// libcuda is not installed (a container with the utility capability alone) or does not start.
// Private to machine.
#pragma once

#include "text/json.hpp"

#include <string>
#include <vector>

namespace cukit::machine {

/// Names and paths under which libnvidia-ml is looked for, in order.
std::vector<std::string> management_libraries();

/// Adds what the first library that answers says to `answer`: "seen", the GPUs, and
/// "driver_version". Nothing is added when none does.
void ask_nvml(const std::vector<std::string>& libraries, text::Json& answer);

} // namespace cukit::machine
