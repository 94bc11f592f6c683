// Private to validate: run() with other limits, for tests.
#pragma once

#include "validate/validate.hpp"

#include <chrono>

namespace cukit::validate {

struct RunLimits {
  std::chrono::seconds time =
      std::chrono::seconds(60); ///< the slowest kernel takes 2 s, a GPU that wakes up some more
  std::uint64_t output_bytes = 1U << 20U; ///< the longest output of a kernel is 600 bytes
};

Result<Report> run_limited(const fs::path& folder, const machine::Devices& devices,
                           const RunLimits& limits, Progress& progress,
                           const std::stop_token& stop);

} // namespace cukit::validate
