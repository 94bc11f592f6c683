// RECORD of a wheel: one CSV row per file with its digest and size. Private to archive/.
#pragma once

#include "base/sha256.hpp"
#include "model/relative_path.hpp"

#include <optional>
#include <vector>

namespace cukit::archive {

struct RecordRow {
  RelativePath path;
  std::optional<Sha256> sha256;      ///< absent only where the field is empty
  std::optional<std::uint64_t> size; ///< may be left out
};

/// Rows as they stand. Only sha256 in urlsafe base64 without padding is taken as a digest; errors
/// name the line.
Result<std::vector<RecordRow>> parse_record(std::string_view text);

/// 43 characters of urlsafe base64; the two bits that mean nothing must be zero.
std::optional<Sha256> decode_digest(std::string_view text);

} // namespace cukit::archive
