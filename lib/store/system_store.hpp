// Who may be trusted with the store that a whole machine uses.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"

namespace cukit::store {

/// CUKIT_SYSTEM_HOME, else /opt/cukit; empty when the variable says `none`.
fs::path system_root(const Environment& environment);

/// An error (code host, naming the folder and what to change) when anybody but root and this user
/// could change what the store holds: a folder of it, or one above it, belongs to somebody else or
/// can be written by its group or by all. A sticky folder above it, as /tmp, is well.
Result<void> check_system_store(const fs::path& root);

/// An error when the store is there and belongs to another user.
Result<void> check_system_owner(const fs::path& root);

} // namespace cukit::store
