// Explanations of a log's failures, one function for each thing that a failure can be about. Each
// returns the finding that explains it, or nullptr. Private to doctor.
#pragma once

#include "doctor/context.hpp"

namespace cukit::doctor {

Finding* missing_header(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* missing_tool(const Context& context, const buildlog::Failure& failure, Findings& findings);
Finding* missing_library(const Context& context, const buildlog::Failure& failure,
                         Findings& findings);
Finding* refused_target(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* unknown_option(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* out_of_memory(const Context& context, const buildlog::Failure& failure,
                       Findings& findings);
/// An error of CUDA or NVML that may come of the driver's libraries, its module or its age; not one
/// that a program makes itself.
bool blames_the_driver(const buildlog::Failure& failure);
Finding* failed_call(const Context& context, const buildlog::Failure& failure, Findings& findings);

/// The finding of a failure that nothing explains.
void tell_unexplained(const Context& context, Findings& findings);

/// The nvcc that the log's build called, or that PATH gives: its path and version; empty: none.
struct NvccInUse {
  std::string path;
  std::string version;
};
NvccInUse nvcc_in_use(const Context& context);
/// The CUDA component that a header, library or tool is of, by its name; empty: none.
std::string_view component_of(std::string_view name);

} // namespace cukit::doctor
