// Who may be trusted with the store that a whole machine uses.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"
#include "store/layout.hpp"

namespace cukit::store {

/// CUKIT_SYSTEM_HOME, else /opt/cukit; empty when the variable says `none`.
fs::path system_root(const Environment& environment);

/// An error (code host, naming the folder and what to change) when anybody but root and this user
/// could change what the store holds: a folder of it, or one above it, belongs to somebody else or
/// can be written by its group or by all. A sticky folder above it, as /tmp, is well.
Result<void> check_system_store(const fs::path& root);

/// The same of a tree, an entry or a name in it, with everything below: the path is about to be
/// used. Of a path that is in no system store, and of one that is not there, nothing is asked.
Result<void> check_use(const Home& home, const fs::path& path);

/// An error when the store is there and belongs to another user.
Result<void> check_system_owner(const fs::path& root);

} // namespace cukit::store
