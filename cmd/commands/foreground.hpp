// A program that has this process's terminal until it ends.
#pragma once

#include "base/result.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace cukit::cmd {

/// Starts it with this process's environment, streams and the signals of a fresh process; with an
/// `output` both of its streams go there, in the order in which they were written.
Result<pid_t> start_in_foreground(const std::vector<std::string>& command, int output = -1);
/// Its exit code; 128 + signal when it was killed by one.
Result<int> wait_for(pid_t child, const std::string& name);

} // namespace cukit::cmd
