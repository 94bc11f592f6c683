// The pages that make a folder of wheels a simple index (PEP 503) on any web server.
#pragma once

#include "base/sha256.hpp"

#include <map>

namespace cukit::offline {

/// An error when the folder has a page that is not a mirror's: it is never replaced.
Result<void> check_mirror_folder(const fs::path& folder);

/// Pages for all that lies in `folder`, also from earlier runs; a page that is right already is
/// left alone. `known`: digests by path, so that those files are not read again.
Result<void> write_mirror_pages(const fs::path& folder, const std::map<fs::path, Sha256>& known);

} // namespace cukit::offline
