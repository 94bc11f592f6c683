// The lock whose wheels an environment is to have: of a manifest as `up` has it, else of the
// release that everybody's pins take.
#pragma once

#include "pipeline/session.hpp"
#include "venv/plan.hpp"

namespace cukit::venv {

struct Chosen {
  lock::Lock lock;
  lock::PlatformLock wheels; ///< of the session's platform
};

/// `manifest` may be empty. Its lock is made or renewed beside it, unless the session is a dry run.
pipeline::Outcome<Chosen> choose(pipeline::Session& session, const Inventory& inventory,
                                 const fs::path& manifest);

} // namespace cukit::venv
