// A hold (store/hold.hpp) for the program that takes this process's place.
#pragma once

#include "base/files.hpp"

namespace cukit::store {

/// The program that this process becomes (exec), and whatever that starts, holds the folder: gc
/// leaves it until the last of them has ended or closed the descriptor. Call it while the folder is
/// held. Where the file system keeps no locks on folders nothing is held, and no gc will run there.
Result<void> hand_on_hold(const fs::path& folder);

} // namespace cukit::store
