// The table of forms, by tool. Private.
#pragma once

#include "buildlog/forms.hpp"

#include <span>

namespace cukit::buildlog {

constexpr auto k_line = Where::line; ///< as the tables write it

std::span<const Form> compiler_forms(); ///< gcc, clang, EDG, nvcc, ptxas, nvlink
std::span<const Form> linker_forms();   ///< ld, gold, lld, mold, ld.so
std::span<const Form> builder_forms();  ///< shells, make, ninja, CMake, Meson, pkg-config
std::span<const Form> package_forms();  ///< Python, pip, uv, conda, apt, containers, the driver

} // namespace cukit::buildlog
