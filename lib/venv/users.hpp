// Programs that have files of an environment mapped: they go on with what they have, and see a
// change only when they are started again.
#pragma once

#include "base/files.hpp"

#include <string>
#include <vector>

namespace cukit::venv {

/// "python3 (4711)", of the processes that this user may look at.
std::vector<std::string> users_of(const fs::path& folder, const fs::path& proc = "/proc");

} // namespace cukit::venv
