// A finished download belongs to everybody who wants it: each user holds the file (a shared lock on
// it), and who is the last one removes it.
#pragma once

#include "fetch/fetch.hpp"

namespace cukit::fetch {

/// An owned blob, held. Whoever calls this has the download's own lock, so that nobody removes the
/// file before it is held.
Result<Blob> held_blob(const fs::path& path, std::uint64_t downloaded);

} // namespace cukit::fetch
