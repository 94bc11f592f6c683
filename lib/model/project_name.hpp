// The names of Python projects.
#pragma once

#include <string>
#include <string_view>

namespace cukit {

/// PEP 503: case, and which of `-`, `_` and `.` and how many, make no difference.
[[nodiscard]] std::string normalised_project(std::string_view name);

} // namespace cukit
