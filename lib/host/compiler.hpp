// Which compiler host_compiler() would ask, without asking it.
#pragma once

#include "base/environment.hpp"
#include "base/result.hpp"

#include <string>

namespace cukit::host {

/// Its path: of `wanted` (a path or name, may be empty), NVCC_CCBIN, else g++ or clang++ on PATH.
/// Runs nothing, so it may be no compiler at all.
Result<std::string> find_host_compiler(const Environment& environment, const std::string& wanted);

} // namespace cukit::host
