// A build under watch: its output goes on to the terminal and is kept for the doctor.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace cukit::cmd {

struct Watched {
  int exit_code = 0; ///< 128 + signal when killed by one
  std::string log;   ///< both streams as they came, the last 64 MB
};

/// Runs the program with this process's environment and terminal. An error: it could not be
/// started.
Result<Watched> watch(const std::vector<std::string>& command);

} // namespace cukit::cmd
