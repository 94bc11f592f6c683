// The environment variables of pip and uv that name sources.
#pragma once

#include "source/stated.hpp"

namespace cukit::source {

Result<Stated> stated_by_uv_variables(const Environment& environment);
Result<Stated> stated_by_pip_variables(const Environment& environment);

} // namespace cukit::source
