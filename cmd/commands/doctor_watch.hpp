// A build under watch: its output goes on to the terminal and is kept for the doctor.
#pragma once

#include "base/result.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace cukit::cmd {

struct Watched {
  int exit_code = 0; ///< 128 + signal when killed by one
  std::string log;   ///< both streams as they came, the last 64 MB
};

/// Runs the program with this process's environment and terminal until it ends; what it leaves
/// running is not waited for. A stop ends the program. An error: it could not be started.
Result<Watched> watch(const std::vector<std::string>& command, const std::stop_token& stop);

} // namespace cukit::cmd
