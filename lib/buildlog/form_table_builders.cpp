#include "buildlog/form_table.hpp"

#include <array>

namespace cukit::buildlog {

namespace {

using enum Thing;

// clang-format off
constexpr std::array k_builder_forms = {
    // --- shells
    Form{"", "{f}: {n}: bad interpreter", tool, State::incompatible},
    Form{"", "{n}: command not found", tool, State::missing},
    Form{"", "command not found: {n}", tool, State::missing},
    Form{"", "Unknown command: {n}", tool, State::missing},
    Form{"", "exec: {n}: not found", tool, State::missing},
    Form{"", "{n}: cannot execute: required file not found", tool, State::incompatible},
    Form{"", "cannot create {n}: Directory nonexistent", file, State::missing},
    Form{"", "can't cd to {n}", file, State::missing},
    Form{"", "cannot open {n}: No such file", file, State::missing},
    Form{"", "can't open file '{n}'", file, State::missing},
    Form{"", "{n} not in path", tool, State::missing, k_line},
    Form{"", "{n} not in PATH", tool, State::missing, k_line},
    Form{"", "{n} is not in PATH", tool, State::missing, k_line},
    Form{"", "{n} not found in PATH", tool, State::missing, k_line},
    Form{"", "{n} not found in $PATH", tool, State::missing, k_line},
    Form{"", "{n}: not found", tool, State::missing},
    Form{"", "no {n} in (", tool, State::missing},
    Form{"", "exec: '{n}': executable file not found", tool, State::missing, k_line},
    Form{"", "unable to execute '{n}'", tool, State::missing},
    // --- make, ninja
    Form{"make", "{n}: Command not found", tool, State::missing},
    Form{"make", "*** No rule to make target '{n}', needed by '{f}'", file, State::missing, k_line},
    Form{"make", "*** No rule to make target '{n}'", file, State::missing, k_line},
    Form{"make", "*** missing separator", code, State::failed, k_line},
    Form{"ninja", "'{n}', needed by '{f}', missing and no known rule to make it", file, State::missing, k_line},
    Form{"ninja", "unknown target '{n}'", file, State::unknown},
    Form{"ninja", "loading '{n}':", file, State::missing},
    // --- CMake; a block's lines come as one
    Form{"CMake", "Could NOT find {n}: Found unsuitable version '{h}', but required is at least '{d}'", version, State::incompatible},
    Form{"CMake", "Could NOT find {n}: Found unsuitable version '{h}', but required is exact version '{d}'", version, State::incompatible},
    Form{"CMake", "Could NOT find {n}: Found unsuitable version '{h}'", version, State::incompatible},
    Form{"CMake", "Could NOT find {n}: Wrong major version specified is '{d}'", version, State::incompatible},
    Form{"CMake", "Could NOT find {n} (missing: {d})", package, State::missing},
    Form{"CMake", "Could NOT find {n}", package, State::missing},
    Form{"CMake", "find a package configuration file provided by '{n}' (requested version {d})", package, State::missing, k_line},
    Form{"CMake", "Could not find a configuration file for package '{n}' that is compatible with requested version '{d}'", version, State::incompatible, k_line},
    Form{"CMake", "find a package configuration file provided by '{n}'", package, State::missing, k_line},
    Form{"CMake", "Found package configuration file: {f} but it set {n}_FOUND to FALSE", package, State::incompatible, k_line},
    Form{"CMake", "links to: {n} but the target was not found", cmake_target, State::missing, k_line},
    Form{"CMake", "contains: {n} but the target was not found", cmake_target, State::missing, k_line},
    Form{"CMake", "links to target '{n}' but the target was not found", cmake_target, State::missing, k_line},
    Form{"CMake", "The imported target '{n}' references the file '{f}' but this file does not exist", library, State::missing, k_line},
    Form{"CMake", "cannot create imported target '{n}' because another target with the same name already exists", cmake_target, State::duplicate, k_line},
    Form{"CMake", "cannot create target '{n}' because another target with the same name already exists", cmake_target, State::duplicate, k_line},
    Form{"CMake", "CMake {d} or higher is required. You are running version {h}", version, State::incompatible, k_line},
    Form{"CMake", "Compatibility with CMake < {d} has been removed", version, State::incompatible, k_line},
    Form{"CMake", "{n} must be non-empty if set", target, State::missing},
    Form{"CMake", "CUDA_ARCHITECTURES is empty for target '{f}'", target, State::missing, k_line},
    Form{"CMake", "CMAKE_CUDA_ARCHITECTURES: {n} is not one of", target, State::unknown, k_line},
    Form{"CMake", "CUDA_ARCHITECTURES is set to '{n}', but no GPU was detected", target, State::missing, k_line},
    Form{"CMake", "is set to '{n}', but no NVIDIA GPU was detected", target, State::missing, k_line},
    Form{"CMake", "arch_bin wasn't set", target, State::missing, k_line},
    Form{"CMake", "Unknown CUDA Architecture Name {n} in CUDA_SELECT_NVCC_ARCH_FLAGS", target, State::unknown, k_line},
    Form{"CMake", "Failed to detect a default CUDA architecture", tool, State::failed, k_line},
    Form{"CMake", "Failed to find nvcc", tool, State::missing, k_line},
    Form{"CMake", "The CUDA compiler identification is unknown", tool, State::failed, k_line},
    Form{"CMake", "Compiling the CUDA compiler identification source file {_}failed. Compiler: {n} Build flags", tool, State::failed, k_line},
    Form{"CMake", "Could not find compiler set in environment variable {d}: {n}", tool, State::missing},
    Form{"CMake", "No {n} could be found", tool, State::missing},
    Form{"CMake", "{n} not set, after EnableLanguage", tool, State::missing},
    Form{"CMake", "The {d}: {n} is not a full path and was not found in the PATH", tool, State::missing},
    Form{"CMake", "The {d}: {n} is not a full path to an existing compiler tool", tool, State::missing},
    Form{"CMake", "CMake was unable to find a build program corresponding to '{d}'", tool, State::missing, k_line},
    Form{"CMake", "Could not find {d} using the following names: {n}", file, State::missing},
    Form{"CMake", "Could not find {d} using the following files: {n}", file, State::missing},
    Form{"CMake", "they are set to NOTFOUND. Please set them or make sure they are set and tested correctly in the CMake files: {n} linked by", library, State::missing, k_line},
    Form{"CMake", "they are set to NOTFOUND. Please set them or make sure they are set and tested correctly in the CMake files: {n} used as include", header, State::missing, k_line},
    Form{"CMake", "they are set to NOTFOUND. Please set them or make sure they are set and tested correctly in the CMake files: {n}", file, State::missing, k_line},
    Form{"CMake", "include could not find {_}file: {n}", file, State::missing},
    Form{"CMake", "Cannot find source file: {n} Tried", file, State::missing},
    Form{"CMake", "add_subdirectory given source '{n}' which is not an existing directory", file, State::missing},
    Form{"CMake", "Unknown CMake command '{n}'", symbol, State::unknown},
    Form{"CMake", "Unknown argument {n}", option, State::unknown},
    Form{"CMake", "Policy '{n}' is not known to this version of CMake", version, State::unknown},
    Form{"CMake", "HASH mismatch", digest, State::incompatible, k_line},
    Form{"CMake", "is not able to compile a simple test program", tool, State::failed, k_line},
    Form{"CMake", "A required package was not found", package, State::missing},
    Form{"CMake", "Unable to find {n} library", library, State::missing},
    Form{"CMake", "Target '{d}' requires the language dialect '{n}'", version, State::unknown, k_line},
    // --- Meson, pkg-config
    Form{"Meson", "Dependency '{n}' not found", package, State::missing},
    Form{"Meson", "Dependency lookup for {n} with method {_} failed: Invalid version, need '{_}' ['{d}'] found '{h}'", version, State::incompatible},
    Form{"Meson", "Dependency '{n}' is required but not found", package, State::missing},
    Form{"Meson", "Program '{n}' not found", tool, State::missing},
    Form{"Meson", "Program {n} not found", tool, State::missing},
    Form{"Meson", "Unknown compiler(s): [['{n}'", tool, State::missing},
    Form{"Meson", "Meson version is {h} but project requires {d}", version, State::incompatible},
    Form{"Meson", "{_} library '{n}' not found", library, State::missing},
    Form{"Meson", "{_} header '{n}' not found", header, State::missing},
    Form{"Meson", "File {n} does not exist", file, State::missing},
    Form{"Meson", "Module '{n}' does not exist", module, State::missing},
    Form{"Meson", "Unknown function '{n}'", symbol, State::unknown},
    Form{"Meson", "unrecognized arguments: {n}", option, State::unknown},
    Form{"Meson", "Unknown option: '{n}'", option, State::unknown},
    Form{"Meson", "Unknown options: '{n}'", option, State::unknown},
    Form{"pkg-config", "Package '{n}', required by 'virtual:world', not found", package, State::missing, k_line},
    Form{"pkg-config", "Package {n} was not found in the pkg-config search path", package, State::missing, k_line},
    Form{"pkg-config", "No package '{n}' found", package, State::missing, k_line},
};
// clang-format on

} // namespace

std::span<const Form> builder_forms() {
  return k_builder_forms;
}

} // namespace cukit::buildlog
