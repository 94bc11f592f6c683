#include "buildlog/form_table.hpp"

#include <array>

namespace cukit::buildlog {

namespace {

using enum Thing;

// clang-format off
constexpr std::array k_compiler_forms = {
    // --- headers
    Form{"clang", "'{n}' file not found", header, State::missing},
    Form{"EDG", "cannot open source file '{n}'", header, State::missing},
    Form{"EDG", "could not open source file '{n}'", header, State::missing},
    Form{"MSVC", "Cannot open include file: '{n}'", header, State::missing},
    // --- options of host compilers
    Form{"gcc", "unrecognized command-line option '{n}'", option, State::unknown},
    Form{"gcc", "unrecognized command line option '{n}'", option, State::unknown},
    Form{"gcc", "unrecognized argument in option '{n}'", option, State::unknown},
    Form{"gcc", "bad value '{n}' for '{d}'", option, State::unknown},
    Form{"gcc", "argument to '{n}' is missing", option, State::unknown},
    Form{"gcc", "missing argument to '{n}'", option, State::unknown},
    Form{"clang", "unknown argument: '{n}'", option, State::unknown},
    Form{"clang", "unknown argument '{n}'", option, State::unknown},
    Form{"clang", "unsupported option '{n}'", option, State::unknown},
    Form{"clang", "unsupported argument '{n}' to option '{d}'", option, State::unknown},
    Form{"clang", "invalid value '{n}' in '{d}'", option, State::unknown},
    Form{"clang", "invalid linker name in argument '{n}'", tool, State::missing},
    Form{"clang", "unknown target CPU '{n}'", option, State::unknown},
    Form{"clang", "unsupported CUDA gpu architecture: {n}", target, State::unknown},
    Form{"clang", "cannot find CUDA installation", tool, State::missing},
    Form{"clang", "cannot find libdevice for {n};", file, State::missing},
    Form{"clang", "no such file or directory: '{n}'", file, State::missing},
    Form{"clang", "unable to open output file '{n}'", file, State::missing},
    Form{"clang", "unable to execute command: {n}", memory, State::killed},
    Form{"clang", "GPU arch {n} is supported by CUDA versions between {d} (inclusive), but installation at {f} is {h};", version, State::incompatible},
    Form{"EDG", "Command-line error: invalid option: {n}", option, State::unknown, k_line},
    Form{"gcc", "cannot execute '{n}'", tool, State::missing},
    Form{"gcc", "error trying to exec '{n}'", tool, State::missing},
    Form{"gcc", "cannot find '{n}'", tool, State::missing},
    // --- names that a source uses
    Form{"gcc", "'{n}' was not declared in this scope", symbol, State::unknown},
    Form{"gcc", "'{n}' is not a member of '{d}'", symbol, State::unknown},
    Form{"gcc", "'{n}' in namespace '{d}' does not name", symbol, State::unknown},
    Form{"gcc", "'{n}' in '{d}' does not name", symbol, State::unknown},
    Form{"gcc", "'{n}' does not name a type", symbol, State::unknown},
    Form{"gcc", "'{n}' has not been declared", symbol, State::unknown},
    Form{"gcc", "'{d}' has no member named '{n}'", symbol, State::unknown},
    Form{"gcc", "'{n}' is not a class template", symbol, State::unknown},
    Form{"gcc", "redefinition of '{n}'", symbol, State::duplicate},
    Form{"gcc", "macro '{n}' passed {_} arguments, but takes just", symbol, State::incompatible},
    Form{"gcc", "macro '{n}' requires {_} arguments, but only", symbol, State::incompatible},
    Form{"gcc", "declaration of '{n}' has a different exception specifier", symbol, State::incompatible},
    Form{"clang", "use of undeclared identifier '{n}'", symbol, State::unknown},
    Form{"clang", "no member named '{n}' in namespace '{d}'", symbol, State::unknown},
    Form{"clang", "no member named '{n}' in '{d}'", symbol, State::unknown},
    Form{"clang", "no type named '{n}' in {_}'{d}'", symbol, State::unknown},
    Form{"clang", "no template named '{n}' in namespace '{d}'", symbol, State::unknown},
    Form{"clang", "no template named '{n}'", symbol, State::unknown},
    Form{"clang", "unknown type name '{n}'", symbol, State::unknown},
    Form{"EDG", "identifier '{n}' is undefined", symbol, State::unknown},
    Form{"EDG", "namespace '{d}' has no member '{n}'", symbol, State::unknown},
    Form{"EDG", "namespace '{d}' has no member class '{n}'", symbol, State::unknown},
    Form{"EDG", "class '{d}' has no member '{n}'", symbol, State::unknown},
    Form{"EDG", "class template '{d}' has no member '{n}'", symbol, State::unknown},
    Form{"EDG", "enum '{d}' has no member '{n}'", symbol, State::unknown},
    Form{"EDG", "{n} is not a template", symbol, State::unknown},
    Form{"EDG", "'{n}' has already been declared in the current scope", symbol, State::duplicate},
    Form{"EDG", "function '{n}' has already been defined", symbol, State::duplicate},
    Form{"EDG", "invalid redeclaration of type name '{n}'", symbol, State::duplicate},
    Form{"EDG", "exception specification is incompatible with that of previous function '{n}'", symbol, State::incompatible},
    Form{"EDG", "incomplete type '{n}' is not allowed", symbol, State::incompatible},
    Form{"EDG", "identifier {n} is undefined", symbol, State::unknown},
    // --- the host compiler's version
    Form{"nvcc", "unsupported GNU version! gcc versions later than {d} are not supported", host_compiler, State::incompatible, k_line},
    Form{"nvcc", "unsupported clang version! clang version must be less than {d} and", host_compiler, State::incompatible, k_line},
    Form{"nvcc", "unsupported Microsoft Visual Studio version!", host_compiler, State::incompatible, k_line},
    Form{"nvcc", "unsupported ICC configuration!", host_compiler, State::incompatible, k_line},
    Form{"nvcc", "Failed to preprocess host compiler properties", tool, State::failed},
    Form{"nvcc", "Host compiler targets unsupported OS", host_compiler, State::incompatible},
    Form{"nvcc", "Unsupported host compiler", host_compiler, State::incompatible},
    // --- nvcc and its parts
    Form{"nvcc", "Unsupported gpu architecture '{n}'", target, State::unknown},
    Form{"", "Value '{n}' is not defined for option 'gpu-{d}'", target, State::unknown},
    Form{"", "Value '{n}' is not defined for option '{d}'", option, State::unknown},
    Form{"", "Incompatible code generation requested: arch='{d}', code='{n}'", target, State::incompatible},
    Form{"", "Unknown option '{n}'", option, State::unknown},
    Form{"", "redefinition of argument '{n}'", option, State::duplicate},
    Form{"", "'{n}': expected a number", option, State::unknown},
    Form{"nvcc", "Don't know what to do with '{n}'", file, State::unknown},
    Form{"nvcc", "A single input file is required for a non-link phase", option, State::incompatible},
    Form{"nvcc", "'{n}' died due to signal {d} (", memory, State::killed},
    Form{"nvcc", "'{n}' died with status {d} (", tool, State::failed},
    Form{"nvcc", "Path to libdevice library not specified", file, State::missing},
    Form{"", "Could not open input file '{n}'", file, State::missing},
    Form{"", "Could not open output file '{n}'", permission, State::refused},
    Form{"", "Input file '{n}' could not be opened", file, State::missing},
    Form{"ptxas", "Unsupported .version {d}; current version is '{h}'", version, State::incompatible, k_line},
    Form{"ptxas", "PTX .version {h} does not support .target {n}", target, State::incompatible},
    Form{"ptxas", "SM version specified by .target is higher than default SM version", target, State::incompatible},
    Form{"ptxas", "Instruction '{n}' not supported on .target '{d}'", target, State::incompatible},
    Form{"ptxas", "Feature '{n}' not supported on .target '{d}'", target, State::incompatible},
    Form{"ptxas", "Instruction '{n}' cannot be compiled for architecture '{d}'", target, State::incompatible},
    Form{"ptxas", "Feature '{n}' requires .target {d} or higher", target, State::incompatible},
    Form{"ptxas", "Instruction '{n}' requires .target {d} or higher", target, State::incompatible},
    Form{"ptxas", "Modifier '{n}' requires .target {d} or higher", target, State::incompatible},
    Form{"ptxas", "Feature '{n}' requires PTX ISA .version {d} or later", version, State::incompatible},
    Form{"ptxas", "Instruction '{n}' requires PTX ISA .version {d} or later", version, State::incompatible},
    Form{"ptxas", "Modifier '{n}' requires PTX ISA .version {d} or later", version, State::incompatible},
    Form{"ptxas", "Entry function '{f}' uses too much {n} ({h}, {d} max)", target, State::exhausted},
    Form{"ptxas", "Unresolved extern function '{n}'", symbol, State::missing},
    Form{"ptxas", "Unresolved extern variable '{n}'", symbol, State::missing},
    Form{"nvlink", "Undefined reference to '{n}' in '{f}'", symbol, State::missing},
    Form{"nvlink", "Multiple definition of '{n}' in '{f}'", symbol, State::duplicate},
    Form{"nvlink", "Input file '{f}' newer than toolkit ({d} vs {h})", version, State::incompatible},
    Form{"nvlink", "SM Arch ('{n}') not found in '{f}'", target, State::missing},
    Form{"nvlink", "elfLink linker library load error", library, State::missing},
    Form{"nvFatbin", "nvFatbin error: unknown option", option, State::unknown, k_line},
    Form{"NVRTC", "invalid value for --gpu-architecture", target, State::unknown, k_line},
    Form{"NVRTC", "failed to open {n}.", library, State::missing},
    Form{"rustc", "linker '{n}' not found", tool, State::missing},
    Form{"rustc", "could not compile '{n}'", code, State::failed},
};
// clang-format on

} // namespace

std::span<const Form> compiler_forms() {
  return k_compiler_forms;
}

} // namespace cukit::buildlog
