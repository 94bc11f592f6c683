// The place of a self-contained tree, `--prefix`: what may be replaced there, and the switch.
// Nothing that cukit did not put there is ever removed.
#pragma once

#include "store/layout.hpp"

#include <stop_token>

namespace cukit::pipeline {

/// An error where no tree can be put at `prefix`: something else than an empty folder or a tree
/// stands there, somebody put files into the tree (they are named), or it is part of a store.
Result<void> check_prefix(const fs::path& prefix);
/// An error where what stands at `prefix` can be used but not replaced: a mount.
Result<void> check_switch(const fs::path& prefix);

/// Puts `fresh`, a whole tree in a folder beside the prefix, where the prefix is: by one exchange
/// where the file system has that, and `fresh` is then what stood there before. Else the tree
/// becomes a journal beside the prefix (`.cukit-switch.NAME`) before anything is taken away, so
/// that finish_switch() of the next run can go on. What stands there is checked as by
/// check_prefix() at the moment of the switch; an error leaves it as it was.
Result<void> switch_prefix(const fs::path& fresh, const fs::path& prefix,
                           const std::stop_token& stop);

/// Ends a switch that was killed; without one nothing happens.
Result<void> finish_switch(const fs::path& prefix, const std::stop_token& stop);

} // namespace cukit::pipeline
