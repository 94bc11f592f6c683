// A child process in a process group of its own, with its output captured and bounded. When the
// time is up, a stop is asked for, the value dies or this process is killed, the whole group is
// killed, so that nvcc's helpers and a hanging kernel go too.
#pragma once

#include "base/environment.hpp"
#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace cukit {

struct Command {
  std::vector<std::string>
      arguments; ///< the first is the program: a path, or a name looked up in `environment`'s PATH
  Environment environment = {}; ///< everything the child sees
  std::string directory = {};   ///< working folder; empty: this process's
  std::chrono::milliseconds time_limit = std::chrono::minutes(10);
  std::uint64_t output_limit =
      1U << 20U;          ///< bytes kept of each stream; what comes after is read and dropped
  std::string input = {}; ///< standard input; empty: /dev/null
};

struct Finished {
  int exit_code = 0; ///< 128 + signal number when killed by one
  int signal = 0;    ///< 0: ended by itself
  bool timed_out = false;
  bool output_was_cut = false;
  std::string output = {}; ///< standard output
  std::string errors = {}; ///< standard error
};

/// An error means that the program could not be started (or a stop was requested); a failing
/// program is a Finished.
Result<Finished> run_command(const Command& command, const std::stop_token& stop = {});

} // namespace cukit
