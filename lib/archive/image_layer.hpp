// One layer of a container image: a tar file, plain or gzip, laid over a folder to be looked at.
// Unlike the tree's sink it must take whatever an image holds; it writes below `root` alone and
// goes through no link.
#pragma once

#include "base/files.hpp"

#include <functional>

namespace cukit::archive {

/// Lays the entries over `root` as an image's layer: whiteouts remove, folders stay, files and
/// links replace. Files for which `is_wanted` (path, size) is false become holes of their size.
Result<void> apply_layer(const fs::path& tar, const fs::path& root,
                         const std::function<bool(std::string_view, std::uint64_t)>& is_wanted);

} // namespace cukit::archive
