// Private to validate: the tree's shared libraries that programs load, copied into the bundle.
#pragma once

#include "validate/bundle.hpp"

namespace cukit::validate {

/// DT_SONAME, or the file's own name when it has none; an error when it is no shared library.
Result<std::string> soname(const fs::path& library);

/// Copies what `pattern` (lib/libcudart.so.*) names in the tree to `out`/lib, each file once, under
/// its SONAME. An error when nothing matches.
Result<std::vector<BundleFile>> copy_libraries(const fs::path& tree, const std::string& pattern,
                                               const fs::path& out);

} // namespace cukit::validate
