// The time that an export says it was made at: equal input gives equal bytes, so it is nobody's
// clock.
#pragma once

#include "base/environment.hpp"
#include "base/result.hpp"

#include <string>

namespace cukit::cmd {

/// SOURCE_DATE_EPOCH as RFC 3339 has it; where it is not set, the beginning of 1970. A value that
/// is no number of seconds is an error of code usage.
Result<std::string> creation_time(const Environment& environment);

} // namespace cukit::cmd
