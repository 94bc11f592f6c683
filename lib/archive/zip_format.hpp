// Numbers of the zip format (PKWARE's APPNOTE 6.3) and how its fields are read. Private to
// archive/.
#pragma once

#include "archive/refuse.hpp"
#include "archive/zip.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace cukit::archive::zip {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t k_local_signature = 0x04034b50;
constexpr std::uint32_t k_central_signature = 0x02014b50;
constexpr std::uint32_t k_end_signature = 0x06054b50;
constexpr std::uint32_t k_end64_signature = 0x06064b50;
constexpr std::uint32_t k_locator64_signature = 0x07064b50;
constexpr std::uint32_t k_descriptor_signature = 0x08074b50;

constexpr std::size_t k_local_bytes = 30;
constexpr std::size_t k_central_bytes = 46;
constexpr std::size_t k_end_bytes = 22;
constexpr std::size_t k_end64_bytes = 56;
constexpr std::size_t k_locator64_bytes = 20;

constexpr std::uint16_t k_stored = 0;
constexpr std::uint16_t k_deflate = 8;

/// What some writers (Python's writestr) store for a folder: a deflate stream of no bytes.
constexpr std::array<std::uint8_t, 2> k_deflated_nothing{0x03, 0x00};

constexpr std::uint16_t k_flag_encrypted = 0x0001;
constexpr std::uint16_t k_flag_deflate_options = 0x0006; // how hard the compressor tried
constexpr std::uint16_t k_flag_descriptor = 0x0008;
constexpr std::uint16_t k_flag_utf8 = 0x0800;

constexpr std::uint16_t k_sentinel16 = 0xffff;
constexpr std::uint32_t k_sentinel32 = 0xffffffff;

inline std::uint16_t u16(Bytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] | bytes[at + 1] << 8U);
}
inline std::uint32_t u32(Bytes bytes, std::size_t at) {
  return u16(bytes, at) | static_cast<std::uint32_t>(u16(bytes, at + 2)) << 16U;
}
inline std::uint64_t u64(Bytes bytes, std::size_t at) {
  return u32(bytes, at) | static_cast<std::uint64_t>(u32(bytes, at + 4)) << 32U;
}
inline std::string_view text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// refuse_archive() for a file.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> refuse(const RandomAccess& file,
                                           fmt::format_string<Args...> format, Args&&... args) {
  return refuse_archive(file.name(), format, std::forward<Args>(args)...);
}

/// A folder or a file, as the central directory lists it.
struct Entry {
  ZipMember member; ///< of a folder: the path without its final slash
  bool is_folder = false;
};

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

/// The one end record, at the very end of the file, and the zip64 records before it if there are
/// any: where the central directory is.
Result<Directory> find_directory(const RandomAccess& file);

/// All entries, each checked by itself: name, kind, method, flags, extra fields, sizes.
Result<std::vector<Entry>> read_directory(const RandomAccess& file, const Directory& directory);

/// The zip64 values in an extra field and whether there is a second name; the chain of fields must
/// fill the area exactly.
struct Extra {
  std::optional<Bytes> zip64;
};
Result<Extra> parse_extra(const RandomAccess& file, Bytes extra, std::string_view name);

/// The true sizes behind their 32-bit fields. The extra field must hold exactly the values that a
/// sentinel calls for, since readers differ on any other.
Result<void> resolve_zip64(const RandomAccess& file, const Extra& extra, std::string_view name,
                           std::initializer_list<std::uint64_t*> values);

/// Reads the local header of `entry`, compares it with the directory and checks that header, data
/// and data descriptor end exactly at end_offset. Returns where the data begins.
Result<std::uint64_t> check_local(const RandomAccess& file, const ZipMember& member,
                                  bool is_folder);

} // namespace cukit::archive::zip
