#include "buildlog/form_table.hpp"

#include <array>

namespace cukit::buildlog {

namespace {

using enum Thing;

// clang-format off
constexpr std::array k_linker_forms = {
    // --- linking
    Form{"ld", "cannot find -l{n}: ", library, State::missing, k_line},
    Form{"ld", "cannot find -l{n}", library, State::missing, k_line},
    Form{"ld", "cannot find {n}:", file, State::missing},
    Form{"lld", "unable to find library -l{n}", library, State::missing, k_line},
    Form{"mold", "library not found: {n}", library, State::missing},
    Form{"", "library '{n}' not found", library, State::missing},
    Form{"", "cannot open linker script file {n}:", file, State::missing},
    Form{"ld", "undefined reference to '{n}'", symbol, State::missing, k_line},
    Form{"", "undefined symbol: {n}, version {d}", symbol, State::missing, k_line},
    Form{"", "undefined symbol: {n}", symbol, State::missing, k_line},
    Form{"mold", "duplicate symbol: {f}: {_}: {n}", symbol, State::duplicate},
    Form{"ld", "duplicate symbol: {n}", symbol, State::duplicate, k_line},
    Form{"ld", "multiple definition of '{n}'", symbol, State::duplicate, k_line},
    Form{"ld", "{f}: error adding symbols: DSO missing from command line", library, State::missing},
    Form{"ld", "DSO missing from command line", library, State::missing, k_line},
    Form{"ld", "warning: {n}, needed by {f}, not found (try using -rpath or -rpath-link)", library, State::missing, k_line},
    Form{"", "unrecognized option '{n}'", option, State::unknown},
    Form{"gold", "{n}: unknown option", option, State::unknown},
    Form{"mold", "unknown command line option: {n}", option, State::unknown},
    Form{"", "unknown linker option: {n}", option, State::unknown},
    Form{"ld", "{n}: file format not recognized", file, State::incompatible},
    Form{"ld", "skipping incompatible {n} when searching for {d}", library, State::incompatible, k_line},
    Form{"ld", "{n}: file in wrong format", file, State::incompatible},
    Form{"gold", "{n}: not an object or archive", file, State::incompatible},
    Form{"lld", "{n} is incompatible with {d}", file, State::incompatible},
    Form{"", "recompile with -fPIC", code, State::incompatible, k_line},
    Form{"ld", "ld terminated with signal {d} [", memory, State::killed, k_line},
    Form{"", "{n} terminated with signal {d} [", memory, State::killed},
    Form{"gcc", "Killed signal terminated program {n}", memory, State::killed},
    Form{"gcc", "Killed (program {n})", memory, State::killed},
    Form{"gcc", "File size limit exceeded signal terminated program {n}", disk, State::exhausted},
    Form{"gcc", "CPU time limit exceeded signal terminated program {n}", other, State::exhausted},
    Form{"gcc", "{d} signal terminated program {n}", memory, State::killed},
    Form{"", "virtual memory exhausted", memory, State::exhausted, k_line},
    Form{"", "out of memory allocating {_} bytes", memory, State::exhausted},
    Form{"", "LLVM ERROR: out of memory", memory, State::exhausted, k_line},
    Form{"", "final link failed: {_}truncated", disk, State::exhausted},
    Form{"", "symbol '{n}' not found in any version", symbol, State::missing},
    // --- loading
    Form{"ld.so", "{n}: cannot open shared object file: No such file or directory", library, State::missing, k_line},
    Form{"ld.so", "{n}: cannot open shared object file", library, State::missing, k_line},
    Form{"ld.so", "{n}: version '{d}' not found (required by {f})", version, State::missing, k_line},
    Form{"ld.so", "{n}: file too short", library, State::incompatible, k_line},
    Form{"ld.so", "{n}: invalid ELF header", library, State::incompatible, k_line},
    Form{"ld.so", "{n}: wrong ELF class: {d}", library, State::incompatible, k_line},
    Form{"ld.so", "symbol {n}, version {d} not defined in file {f} with link time reference", symbol, State::missing, k_line},
    Form{"ld.so", "cannot allocate memory in static TLS block", memory, State::exhausted, k_line},
    Form{"ld.so", "failed to map segment from shared object", memory, State::refused, k_line},
    Form{"ld.so", "cannot enable executable stack", permission, State::refused, k_line},
    Form{"dlopen", "Could not load library {n}. Error", library, State::missing, k_line},
    Form{"dlopen", "Could not load dynamic library '{n}'", library, State::missing, k_line},
    Form{"dlopen", "Unable to load any of {n}", library, State::missing, k_line},
    Form{"dlopen", "Unable to dynamically load the '{n}' shared library", library, State::missing, k_line},
    Form{"dlopen", "Failed to load shared library '{n}'", library, State::missing, k_line},
};
// clang-format on

} // namespace

std::span<const Form> linker_forms() {
  return k_linker_forms;
}

} // namespace cukit::buildlog
