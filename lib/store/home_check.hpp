// Whether a folder is a home of cukit's at all: asked before anything is made or removed in it.
#pragma once

#include "store/layout.hpp"

namespace cukit::store {

/// An error when the folder is there and is not cukit's: it has no `version` that cukit wrote, or a
/// newer one, and holds what cukit never put there. An empty folder and an absent one are fine.
Result<void> check_home(const Home& home);

/// An error when one of the home's own folders is a link or no folder: what is made and removed
/// below it would be elsewhere. Where the XDG folders count, the cache is a place of its own and
/// may be a link.
Result<void> check_folders(const Home& home);

} // namespace cukit::store
