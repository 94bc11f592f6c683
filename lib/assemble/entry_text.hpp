// Texts of store entries that the assembly reads.
#pragma once

#include "assemble/assemble.hpp"

namespace cukit::assemble {

/// What a text may have that is read as a whole: CMake and pkg-config files, headers.
constexpr std::uint64_t k_text_bytes = 16U << 20U;

/// The bytes of a claimed file. A larger one is the artifact's fault: an error of code integrity
/// that names the component.
Result<std::string> read_entry_text(const TreeFile& file);

} // namespace cukit::assemble
