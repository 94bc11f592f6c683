// Files that cukit keeps for itself (below CUKIT_HOME, in a mirror) and files that it is told to
// read. Whatever stands in the place of a file is named and left alone: nobody waits for the other
// end of a pipe, follows a link out of the folder, or writes into a file that has other names.
#pragma once

#include "base/files.hpp"

#include <optional>
#include <string_view>

namespace cukit {

/// "a file", "a folder", "a link", "a pipe", "a socket" or "a device", of st_mode.
std::string_view kind_of(unsigned mode);

/// Code host, naming the path and what stands there instead of `wanted` ("a file", "a folder").
/// Nothing may stand there any more.
Error other_kind(const fs::path& path, std::string_view wanted);

/// Opens a regular file; anything else is an error, and none of it makes the call wait. Follows a
/// link unless `flags` hold O_NOFOLLOW.
Result<Fd> open_regular(const fs::path& path, int flags, unsigned mode = 0644);

/// Opens a file that cukit keeps: follows no link at the end of the path, and opens for writing
/// only a file that has no other name.
Result<Fd> open_kept(const fs::path& path, int flags, unsigned mode = 0644);

/// The whole of such a file; more than `limit` bytes is an error.
Result<std::string> read_kept(const fs::path& path, std::uint64_t limit);

bool is_kept_file(const fs::path& path);   ///< a regular file stands there, and no link to one
bool is_kept_folder(const fs::path& path); ///< a folder stands there, and no link to one

/// An error when something else than a folder stands there; nothing is fine.
Result<void> check_kept_folder(const fs::path& path);

} // namespace cukit
