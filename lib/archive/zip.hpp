// Zip files as wheels use them, read strictly: hostile bytes end here. Nothing is believed before
// the central directory, every local header and the tiling of the file have been checked: what two
// readers could understand in two ways is refused.
#pragma once

#include "base/random_access.hpp"
#include "model/relative_path.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cukit::archive {

struct ZipMember {
  RelativePath path; ///< of a file; folders are not listed
  std::uint64_t header_offset = 0;
  std::uint64_t data_offset = 0; ///< 0 until the local header was read (ranged audits read it late)
  std::uint64_t end_offset = 0;  ///< where the next header or the directory begins
  std::uint64_t compressed = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0; ///< 0 stored, 8 deflate
  std::uint16_t flags = 0;  ///< as the directory has them; the local header must agree
};

enum class Audit {
  whole,  ///< every byte of the file belongs to exactly one member, the directory or its end record
  ranged, ///< only the directory; each member's local header is checked when the member is read
};

/// The members in the order of the central directory, or an ErrorCode::integrity error that says
/// what is wrong.
Result<std::vector<ZipMember>> audit_zip(const RandomAccess& file, Audit audit);

/// Calls `consume` with consecutive pieces of the member's content. Size and CRC are checked at the
/// end: after an error what was consumed must be thrown away. `consume` may return an error to
/// stop. Memory is constant. Safe to call for several members at once.
Result<void> read_member(const RandomAccess& file, const ZipMember& member,
                         const std::function<Result<void>(std::span<const std::uint8_t>)>& consume);

/// A whole small member in memory, at most `limit` bytes.
Result<std::string> read_member(const RandomAccess& file, const ZipMember& member,
                                std::uint64_t limit);

} // namespace cukit::archive
