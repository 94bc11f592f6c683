// What of a root folder a look needs whole.
#pragma once

#include <cstdint>
#include <string_view>

namespace cukit::survey {

/// Whether take_snapshot() may read the bytes of a file of this path (from the root on) and size;
/// of every other one its name and size are enough.
[[nodiscard]] bool reads_bytes_of(std::string_view path, std::uint64_t size);

} // namespace cukit::survey
