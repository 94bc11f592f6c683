// One tar file, plain or gzip, laid over a folder. Private to doctor.
#pragma once

#include "base/files.hpp"

#include <functional>

namespace cukit::doctor {

/// Lays the entries over `root` as an image's layer: whiteouts remove, folders stay, files and
/// links replace. Files for which `is_wanted` (path, size) is false become holes of their size.
Result<void> apply_layer(const fs::path& tar, const fs::path& root,
                         const std::function<bool(std::string_view, std::uint64_t)>& is_wanted);

} // namespace cukit::doctor
