#include "archive/zip_format.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"

#include <algorithm>

namespace cukit::archive::zip {

namespace {

constexpr std::uint8_t k_newest_version = 63; // of the format document: 6.3
constexpr std::uint32_t k_dos_folder = 0x10;
constexpr std::uint32_t k_mode_mask = 0170000;
constexpr std::uint32_t k_mode_regular = 0100000;
constexpr std::uint32_t k_mode_folder = 0040000;

Result<void> check_flags(const RandomAccess& file, std::uint16_t flags, std::string_view name) {
  if ((flags & k_flag_encrypted) != 0) {
    return refuse(file, "`{}` is encrypted", printable(name));
  }
  constexpr unsigned known = k_flag_deflate_options | k_flag_descriptor | k_flag_utf8;
  if ((flags & ~known) != 0) {
    return refuse(file,
                  "`{}` has the flags 0x{:04x}, which are not all known (encryption, patches)",
                  printable(name), flags);
  }
  const bool ascii = std::all_of(name.begin(), name.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii && (flags & k_flag_utf8) == 0) {
    return refuse(file, "the name `{}` is not ASCII and not marked as UTF-8", printable(name));
  }
  return {};
}

/// Wheels hold files and folders; a link, a device or a pipe has no place in one.
Result<void> check_kind(const RandomAccess& file, std::uint32_t attributes, bool is_folder,
                        std::string_view name) {
  const std::uint32_t mode = (attributes >> 16U) & k_mode_mask;
  if (mode != 0 && mode != k_mode_regular && mode != k_mode_folder) {
    return refuse(file, "`{}` is neither a file nor a folder (mode 0{:o})", printable(name),
                  attributes >> 16U);
  }
  const bool says_folder = mode == k_mode_folder || (mode == 0 && (attributes & k_dos_folder) != 0);
  if (is_folder ? mode == k_mode_regular : says_folder) {
    return refuse(file, "`{}` is a file by one mark and a folder by another", printable(name));
  }
  return {};
}

Result<void> check_sizes(const RandomAccess& file, const Entry& entry) {
  const ZipMember& member = entry.member;
  const auto& name = member.path.text();
  if (member.method != k_stored && member.method != k_deflate) {
    return refuse(file, "`{}` is packed with method {}; wheels use 0 (stored) and 8 (deflate)",
                  name, member.method);
  }
  const std::uint64_t nothing = member.method == k_deflate ? k_deflated_nothing.size() : 0;
  if (entry.is_folder && (member.size != 0 || member.compressed > nothing || member.crc != 0)) {
    return refuse(file, "the folder `{}` carries data", name);
  }
  if (member.method == k_stored && member.size != member.compressed) {
    return refuse(file, "`{}` is stored but has two sizes, {} and {}", name, member.compressed,
                  member.size);
  }
  if (member.method == k_deflate && member.size / limits::k_deflate_ratio > member.compressed) {
    return refuse(file, "`{}` declares {} bytes, more than {} compressed ones can hold", name,
                  member.size, member.compressed);
  }
  return {};
}

/// Cuts one record off the front of the directory.
Result<Bytes> take_record(const RandomAccess& file, Bytes& rest) {
  if (rest.size() < k_central_bytes || u32(rest, 0) != k_central_signature) {
    return refuse(file, "the central directory is damaged or holds fewer members than announced");
  }
  const std::size_t total = k_central_bytes + u16(rest, 28) + u16(rest, 30) + u16(rest, 32);
  if (total > rest.size()) {
    return refuse(file, "a record of the central directory runs past its end");
  }
  const Bytes record = rest.first(total);
  rest = rest.subspan(total);
  return record;
}

Result<ZipMember> parse_numbers(const RandomAccess& file, Bytes record, std::string_view name) {
  const Bytes extra_area = record.subspan(k_central_bytes + name.size(), u16(record, 30));
  CUKIT_TRY_ASSIGN(const Extra extra, parse_extra(file, extra_area, name));
  ZipMember member;
  member.flags = u16(record, 8);
  member.method = u16(record, 10);
  member.crc = u32(record, 16);
  member.compressed = u32(record, 20);
  member.size = u32(record, 24);
  member.header_offset = u32(record, 42);
  CUKIT_TRY(
      resolve_zip64(file, extra, name, {&member.size, &member.compressed, &member.header_offset}));
  return member;
}

Result<Entry> parse_entry(const RandomAccess& file, Bytes record) {
  std::string_view name = text(record.subspan(k_central_bytes, u16(record, 28)));
  CUKIT_TRY(check_flags(file, u16(record, 8), name));
  if (record[6] > k_newest_version) {
    return refuse(file, "`{}` needs version {}.{} of the zip format", printable(name),
                  record[6] / 10, record[6] % 10);
  }
  if (u16(record, 34) != 0) {
    return refuse(file, "`{}` begins on another disk", printable(name));
  }
  Entry entry;
  entry.is_folder = name.ends_with('/');
  CUKIT_TRY(check_kind(file, u32(record, 38), entry.is_folder, name));
  CUKIT_TRY_ASSIGN(entry.member, parse_numbers(file, record, name));
  name.remove_suffix(entry.is_folder ? 1 : 0);
  auto path = RelativePath::parse(name);
  if (!path) {
    return refuse(file, "{}", path.error().message);
  }
  entry.member.path = *std::move(path);
  CUKIT_TRY(check_sizes(file, entry));
  return entry;
}

} // namespace

Result<std::vector<Entry>> read_directory(const RandomAccess& file, const Directory& directory) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(directory.size));
  CUKIT_TRY(file.read_at(directory.offset, bytes));
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(directory.entries));
  Bytes rest(bytes);
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    CUKIT_TRY_ASSIGN(const Bytes record, take_record(file, rest));
    CUKIT_TRY_ASSIGN(auto entry, parse_entry(file, record));
    entries.push_back(std::move(entry));
  }
  if (!rest.empty()) {
    return refuse(file, "the central directory holds {} bytes more than its {} members",
                  rest.size(), directory.entries);
  }
  return entries;
}

} // namespace cukit::archive::zip
