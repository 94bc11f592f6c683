// The `cukit.yaml` of the project that a person works in, for commands that are given no name.
#pragma once

#include "base/files.hpp"

#include <optional>

namespace cukit::home {

/// In `folder` (absolute) or one above it. What others could have put there is not looked for:
/// every folder on the way, and the file, must belong to this user. The search ends with `home`,
/// with the root of a mounted file system and before a folder of another user's.
std::optional<fs::path> nearest_manifest(const fs::path& folder, const fs::path& home);

} // namespace cukit::home
