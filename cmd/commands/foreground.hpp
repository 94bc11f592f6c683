// A program that has this process's terminal until it ends.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cukit::cmd {

/// Starts it with this process's environment, streams and the signals of a fresh process; with an
/// `output` both of its streams go there, in the order in which they were written.
Result<pid_t> start_in_foreground(const std::vector<std::string>& command, int output = -1);
/// Looks whether it has ended. After a stop it gets SIGTERM, unless it ends by itself within a
/// second (Ctrl-C reaches both), and SIGKILL when that does not help.
class Waiting {
public:
  Waiting(pid_t child, std::string name, std::stop_token stop);
  /// The exit code, 128 + signal when it was killed by one; nothing while it runs.
  Result<std::optional<int>> look();

private:
  pid_t child_;
  std::string name_;
  std::stop_token stop_;
  int signals_ = 0; ///< sent
  std::optional<std::chrono::steady_clock::time_point> next_ = {};
};

/// The exit code when it has ended.
Result<int> wait_for(pid_t child, const std::string& name, const std::stop_token& stop);

} // namespace cukit::cmd
