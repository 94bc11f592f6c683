// Paths that a person named: relative to a working folder that may be gone, through links that are
// theirs, to files of which they chose the mode.
#pragma once

#include "base/files.hpp"

namespace cukit {

/// The path from the root on, without `.` and `..`. An error where it is relative and the working
/// folder was deleted.
[[nodiscard]] Result<fs::path> absolute_path(const fs::path& path);

/// The file that a path leads to through its links; it need not exist. What is no regular file is
/// refused, since nothing can take its place.
[[nodiscard]] Result<fs::path> replaceable_file(const fs::path& path);

/// Replaces in one step what a person keeps at `path`, as write_file_atomic does. A link there
/// stays and the file it leads to is replaced; one that exists keeps its mode, and, where this
/// process may say so, its owner. A pipe or a device gets the bytes.
Result<void> write_user_file(const fs::path& path, std::string_view bytes);

} // namespace cukit
