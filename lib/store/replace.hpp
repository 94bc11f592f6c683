// A folder of the store or of trees/ in the place of another.
#pragma once

#include "base/files.hpp"

namespace cukit::store {

/// Puts `fresh`, which lies in staging, where `standing` is, in one step where the file system has
/// one; else `standing` is absent for a moment, and made again by whoever looks then. The old one
/// is left in staging.
Result<void> put_in_place(const fs::path& fresh, const fs::path& standing);

} // namespace cukit::store
