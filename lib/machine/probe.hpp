// Private to machine: the two sides of the question to the driver. The child loads libcuda and
// prints one JSON object; the parent starts it and makes Devices of whatever came back.
#pragma once

#include "machine/machine.hpp"
#include "text/json.hpp"

#include <chrono>

namespace cukit::machine {

/// The argument that makes a program the child.
constexpr const char* k_probe_argument = "--probe-devices";
/// Set in the child, so that a program that does not know the argument cannot start itself over and
/// over.
constexpr const char* k_probe_variable = "CUKIT_PROBING";

/// Names and paths under which libcuda is looked for, in order.
std::vector<std::string> driver_libraries();

/// The child's side: loads the first library that is a driver and asks it.
text::Json probe(const std::vector<std::string>& libraries);

/// The parent's side: runs `program --probe-devices`. `quick` supplies the kernel module's version.
Devices ask_child(const std::string& program, Environment environment, const QuickLook& quick,
                  std::chrono::milliseconds time_limit, const std::stop_token& stop);

} // namespace cukit::machine
