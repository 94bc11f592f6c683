// Private to validate: what a kernel program printed, and whether that is a pass.
#pragma once

#include "base/child.hpp"
#include "validate/bundle.hpp"

namespace cukit::validate {

struct Printed {
  std::map<std::string, double> numbers;
  std::vector<std::string> loaded; ///< paths of the CUDA libraries in its address space
  std::string skip;                ///< why this device cannot run it
  std::string mistake;             ///< a line that cannot be read; empty: none
};
Printed read_output(std::string_view output);

struct Outcome {
  State state = State::failed;
  std::string reason;
};

/// How a process ended that did not succeed, with the last line it wrote to standard error. Empty:
/// it succeeded.
std::string failure_of(const Finished& finished, std::chrono::seconds time_limit);

/// The numbers that are expected are there and inside their tolerances; empty: all well.
std::string compare_numbers(const Printed& printed,
                            const std::map<std::string, Expected>& expected);

/// Every loaded library that the bundle has too is the bundle's, byte for byte, and those that the
/// program must load are loaded.
std::string compare_libraries(const Printed& printed, const Program& program,
                              const std::vector<BundleFile>& libraries);

Outcome judge(const Finished& finished, const Printed& printed, const Program& program,
              const std::vector<BundleFile>& libraries, std::chrono::seconds time_limit);

} // namespace cukit::validate
