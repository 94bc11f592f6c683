// A plan's wheels as files on their way into an environment, with dist-info as an installer leaves
// it, and the rows of the journal that puts them there.
#pragma once

#include "store/store.hpp"
#include "venv/journal.hpp"
#include "venv/plan.hpp"

#include <map>

namespace cukit::venv {

/// Fills `journal.folder`/new and the journal's rows. Content comes from the store by reflink, else
/// as a copy: an edit in the environment reaches nobody else. `entries` are by store key. An error,
/// with nothing of the environment touched, where a RECORD names files outside of site-packages,
/// where another package has a file of the plan with other bytes, and where a folder of it is a
/// link.
Result<void> stage(const Inventory& inventory, const Plan& plan,
                   const std::map<std::string, store::Entry>& entries, Journal& journal);

} // namespace cukit::venv
