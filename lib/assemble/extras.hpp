// What somebody put into a tree.
#pragma once

#include "base/files.hpp"

namespace cukit::assemble {

/// Paths in the folder of a tree that were not built there, sorted, a folder with a slash at its
/// end; also of a tree of which parts are gone. An error when the tree's own list cannot be read.
Result<std::vector<std::string>> extras(const fs::path& path);

} // namespace cukit::assemble
