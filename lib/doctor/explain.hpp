// Explanations of a log's failures, one function for each thing that a failure can be about. Each
// returns the finding that explains it, or nullptr. Private to doctor.
#pragma once

#include "doctor/context.hpp"

namespace cukit::doctor {

/// The finding of a rule, new or there already; the first cause that is said of it stays, with its
/// fixes.
Finding& say(Findings& findings, RuleId id, std::string cause, std::vector<Fix> fix = {},
             const std::string& subject = {});
/// The tool that said it, or "the build".
std::string said_by(const buildlog::Failure& failure);

Finding* missing_package(const Context& context, const buildlog::Failure& failure,
                         Findings& findings);
Finding* wrong_version(const Context& context, const buildlog::Failure& failure,
                       Findings& findings);
Finding* missing_module(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* signed_by_another(const buildlog::Failure& failure, Findings& findings);
Finding* missing_header(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* missing_tool(const Context& context, const buildlog::Failure& failure, Findings& findings);
/// nvcc was not found by the build and is found here.
Finding& build_environment_differs(const Context& context, Findings& findings);
/// nvcc is here, and CMake could not use it.
Finding* compiler_check(const Context& context, Findings& findings);
/// A symbol that is missing or there twice, for a linker, the loader or nvlink.
Finding* missing_symbol(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* missing_library(const Context& context, const buildlog::Failure& failure,
                         Findings& findings);
Finding* refused_target(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
/// What the GPU, or what runs on it, refuses: a build of torch or an NVRTC without code for it, a
/// kernel that wants more than it has.
Finding* refused_by_gpu(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* unknown_option(const Context& context, const buildlog::Failure& failure,
                        Findings& findings);
Finding* out_of_memory(const Context& context, const buildlog::Failure& failure,
                       Findings& findings);
/// An error of CUDA or NVML that may come of the driver's libraries, its module or its age; not one
/// that a program makes itself.
bool blames_the_driver(const buildlog::Failure& failure);
Finding* failed_call(const Context& context, const buildlog::Failure& failure, Findings& findings);

/// A file that is missing, damaged or locked by another process.
Finding* missing_file(const Context& context, const buildlog::Failure& failure, Findings& findings);
/// A compiler that ended by a signal which no shortage of memory sends.
Finding* crashed_compiler(const buildlog::Failure& failure, Findings& findings);
Finding* limit_reached(const buildlog::Failure& failure, Findings& findings);
/// A program that is there and cannot be run.
Finding* broken_program(const buildlog::Failure& failure, Findings& findings);
/// What the table of names says of a name that the build misses: it went, or came later. nullptr:
/// nothing, or the release that this build reads has it.
Finding* explain_name(const Context& context, knowledge::NameKind kind, const std::string& name,
                      const buildlog::Failure& failure, Findings& findings);
/// A C++ name, with the namespace that the compiler told.
Finding* missing_name(const Context& context, const buildlog::Failure& failure, Findings& findings);
Finding* option_of_other_release(const Context& context, const buildlog::Failure& failure,
                                 Findings& findings);
/// `stem` is libNAME.
Finding* library_of_other_release(const Context& context, const std::string& stem,
                                  const buildlog::Failure& failure, Findings& findings);
/// What can stand in for a host compiler that is asked for by a name: one that is here, else the
/// very one, where this nvcc accepts it.
std::vector<Fix> other_compilers(const Context& context, const std::string& name);
Finding* refused_by_container(const Context& context, const buildlog::Failure& failure,
                              Findings& findings);
/// What NVML, torch or nvidia-smi say of the driver.
Finding* driver_words(const Context& context, const buildlog::Failure& failure, Findings& findings);
Finding* managed_python(const Context& context, Findings& findings);

/// The finding of a failure that nothing explains.
void tell_unexplained(const Context& context, Findings& findings);

/// The command that a failure is of; nullptr: not known.
const buildlog::Command* command_of(const Context& context, const buildlog::Failure& failure);
/// The nvcc that the log's build called, or that PATH gives: its path and version; empty: none.
struct NvccInUse {
  std::string path;
  std::string version;
};
NvccInUse nvcc_in_use(const Context& context);
/// Whether a folder of LD_LIBRARY_PATH has a library of this component; the finding then says so
/// and takes it out of the variable.
bool blame_library_path(const Context& context, std::string_view component, Finding& finding);
/// The CUDA component that a header, library or tool is of, by its name; empty: none.
std::string_view component_of(std::string_view name);

} // namespace cukit::doctor
