// Which compiler host_compiler() would ask, without asking it.
#pragma once

#include "base/environment.hpp"
#include "base/result.hpp"

#include <string>

namespace cukit::machine {

/// Its path: of `wanted` (a path or name, may be empty), NVCC_CCBIN, else g++ or clang++ on PATH.
/// Runs nothing, so it may be no compiler at all.
Result<std::string> find_host_compiler(const Environment& environment, const std::string& wanted);

/// What tells that compiler from any other, also from its own next version at the same path,
/// without running it: where it really lies, size, time of change and a digest of its two ends (an
/// ELF file has its build id in the first). `none` when there is no compiler.
std::string host_compiler_identity(const Environment& environment, const std::string& wanted);

} // namespace cukit::machine
