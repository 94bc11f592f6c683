// Store entries to a tree: in CUKIT_HOME under its id, or as a self-contained copy at a prefix.
// Complete or absent.
#pragma once

#include "pipeline/session.hpp"

#include <map>

namespace cukit::pipeline {

/// The tree that stands in the home, or in the system store below it; an error too when others
/// could change what the system store has of it.
Result<assemble::Tree> open_standing(const store::Home& home, const Sha256& id);

/// What the lock has for this run's platform; code expected_no when that is nothing.
Result<const lock::PlatformLock*> part_of(const Session& session, const lock::Lock& lock);

/// The tree of the lock's platform; `made` tells whether it was built now.
struct Built {
  assemble::Tree tree;
  bool made = false;
};
Result<Built> ensure_tree(Session& session, const lock::Lock& lock);

/// Builds the tree of the lock's platform again and puts it in the place of the one that stands in
/// the home, in one step. The store's entries must be whole.
Result<void> rebuild_tree(Session& session, const lock::Lock& lock);

/// A copy at `session.settings.prefix` that shares no file with the store. A tree of cukit's that
/// stands there is replaced in one step (pipeline/prefix.hpp); anything else that is not an empty
/// folder is an error, and so is a file in the tree that cukit did not put there.
Result<Built> ensure_prefix(Session& session, const lock::Lock& lock);

} // namespace cukit::pipeline
