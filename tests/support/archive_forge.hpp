// Builds zip files and wheels byte by byte, good ones and every kind of bad one: whatever a header
// says can be made to differ from the truth.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::test {

/// What one header says; empty: the truth.
struct ForgedHeader {
  std::optional<std::string> name = {};
  std::optional<std::uint16_t> flags = {};
  std::optional<std::uint16_t> method = {};
  std::optional<std::uint32_t> crc = {};
  std::optional<std::uint32_t> compressed = {};
  std::optional<std::uint32_t> size = {};
  std::string extra = {};
};

enum class Descriptor { none, plain, signed32, plain64, signed64 };

struct ForgedEntry {
  std::string name;
  std::string content = {};
  std::uint16_t method = 8; ///< 0 stored, 8 deflate; others keep the content as it is
  std::uint32_t attributes = 0100644U << 16U;
  std::uint16_t version_needed = 20;
  ForgedHeader local = {};
  ForgedHeader central = {};
  std::optional<std::string> raw = {};      ///< compressed bytes in place of the true ones
  Descriptor descriptor = Descriptor::none; ///< the local sizes are then 0
  std::optional<std::uint32_t> descriptor_crc = {};
  bool is_hidden = false;                   ///< not in the directory
  bool is_only_listed = false;              ///< nothing but a directory record; see offset
  std::optional<std::uint32_t> offset = {}; ///< of the local header, as the directory says
  std::string before = {};                  ///< stray bytes in front of the local header
  std::string after = {};                   ///< stray bytes behind data and descriptor
};

struct ForgedEnd {
  std::string prefix = {}; ///< the offsets do not count it
  std::string before_directory = {};
  std::string after_directory = {};
  std::string comment = {};
  std::optional<std::uint16_t> comment_length = {};
  std::string suffix = {};
  bool zip64 = false;          ///< zip64 end record and locator in front of the end record
  bool zip64_sentinels = true; ///< the end record passes on to them
  std::optional<std::uint64_t> zip64_offset = {}; ///< as the locator says
  std::string zip64_extensible = {};
  std::optional<std::uint16_t> entries = {};
  std::optional<std::uint32_t> directory_size = {};
  std::optional<std::uint32_t> directory_offset = {};
  std::uint16_t disk = 0;
};

std::string forge_zip(const std::vector<ForgedEntry>& entries, const ForgedEnd& end = {});

/// One extra field: id, length, value.
std::string extra_field(std::uint16_t id, std::string_view value);
/// Little-endian numbers, for extra fields and patches.
std::string le16(std::uint16_t value);
std::string le32(std::uint32_t value);
std::string le64(std::uint64_t value);

std::uint32_t crc32_of(std::string_view bytes);  ///< zlib's
std::string raw_deflate(std::string_view bytes); ///< zlib's
/// zlib's answer to a raw stream; empty when it is damaged, cut or followed by more.
std::optional<std::string> raw_inflate(std::string_view stream);
/// sha256=..., as RECORD has it (OpenSSL).
std::string record_digest(std::string_view bytes);

/// A wheel that is right unless told otherwise.
struct ForgedWheel {
  std::string name = "demo_tool"; ///< as in the folder's name
  std::string version = "1.2.3";
  std::vector<std::pair<std::string, std::string>> files = {}; ///< path and content, in this order
  std::vector<std::string> requires_dist = {};
  std::optional<std::string> metadata = {};
  std::optional<std::string> wheel = {};
  std::optional<std::string> dist_info = {};
  /// RECORD rows in place of the right ones; an empty text leaves the row of that path out.
  std::map<std::string, std::string> rows = {};
  std::string extra_rows = {};            ///< behind the right ones
  std::optional<std::string> record = {}; ///< the whole text
  bool has_record = true;
  std::vector<ForgedEntry> unlisted = {}; ///< in the archive, not in RECORD
};

[[nodiscard]] std::vector<ForgedEntry> wheel_entries(const ForgedWheel& wheel);
[[nodiscard]] std::string forge_wheel(const ForgedWheel& wheel);
/// demo_tool-1.2.3-py3-none-any.whl
[[nodiscard]] std::string wheel_file_name(const ForgedWheel& wheel);

} // namespace cukit::test
