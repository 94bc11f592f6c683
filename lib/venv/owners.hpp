// Whose the files below site-packages/nvidia are. Private to venv.
#pragma once

#include "venv/inventory.hpp"

namespace cukit::venv {

/// Fills Inventory::folders with those of one folder of modules, by the RECORDs that were read.
Result<void> look_at_folders(const fs::path& site, Depth depth, Inventory& inventory,
                             const std::stop_token& stop);

} // namespace cukit::venv
