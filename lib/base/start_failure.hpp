// Why a program that is there could not be started.
#pragma once

#include "base/result.hpp"

#include <string>

namespace cukit {

/// The file system that holds the path lets no program run from it.
[[nodiscard]] bool is_on_noexec(const std::string& path);

/// The error of an exec that failed with `number`; names a mount that forbids programs, which the
/// kernel reports as a missing permission.
[[nodiscard]] Error start_error(int number, const std::string& program);

} // namespace cukit
