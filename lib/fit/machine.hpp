// What a machine brings to a toolkit: driver, C++ compiler, C library.
#pragma once

#include "fit/answer.hpp"
#include "knowledge/knowledge.hpp"
#include "knowledge/limits.hpp"

#include <string_view>

namespace cukit::fit {

/// A driver that starts programs of this release (minor version compatibility). The bound is a
/// branch.
[[nodiscard]] Fit runs_on_driver(const knowledge::Release& release, const Version& driver);
/// The release whose own driver this is: what its JIT compiler knows. Null when it is older than
/// all that are known.
[[nodiscard]] const knowledge::Release*
cuda_of_driver(const std::vector<knowledge::Release>& releases, const Version& driver);
/// A driver whose own CUDA is `driver_cuda` compiles the PTX that this release writes. The bound is
/// a PTX version.
[[nodiscard]] Fit ptx_on_driver(const knowledge::Release& release,
                                const knowledge::Release& driver_cuda);

/// Majors that the headers of a CUDA accept; 0: no bound is known.
struct CompilerRange {
  int gcc_max = 0;
  int clang_min = 0;
  int clang_max = 0;
};
[[nodiscard]] CompilerRange compilers_of(const knowledge::Release& release);
/// gcc or clang of a major beside such headers; other compilers are not judged.
[[nodiscard]] Fit host_compiler(const CompilerRange& range, std::string_view kind, int major);

/// The clash of a C library with the headers of this CUDA, the newest library's first; nullptr:
/// none is known.
[[nodiscard]] const knowledge::CLibraryClash*
c_library_clash(const knowledge::Limits& limits, const Version& cuda, const Version& glibc);

} // namespace cukit::fit
