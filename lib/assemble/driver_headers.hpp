// Headers whose functions a program may call in the driver's library: cuda.h and its companions.
#pragma once

#include <string>
#include <vector>

namespace cukit::assemble {

/// Their names below include/.
const std::vector<std::string>& driver_headers();

} // namespace cukit::assemble
