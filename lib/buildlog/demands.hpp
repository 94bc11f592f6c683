// A demand for a version that a program words itself: `requires NVCC >= 12.3, found 12.1`, `CUDA
// 12.4 or newer is needed`, `C++17 or later`. Private.
#pragma once

#include "buildlog/buildlog.hpp"
#include "buildlog/head.hpp"

#include <optional>

namespace cukit::buildlog {

/// `text` is what a diagnostic says, with plain quotes. The failure's name is the product as a
/// command or package is called (nvcc, CUDA, torch), its demand a range (">=12.3") or "newer".
std::optional<Failure> demanded_version(const Head& head, std::string_view text);

} // namespace cukit::buildlog
