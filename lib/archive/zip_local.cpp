#include "archive/zip_format.hpp"

#include <algorithm>
#include <array>

namespace cukit::archive::zip {

namespace {

/// Values that a local header states; with a descriptor they may be left open (0).
struct Stated {
  std::uint64_t crc = 0;
  std::uint64_t compressed = 0;
  std::uint64_t size = 0;
};

Result<void> compare(const RandomAccess& file, const ZipMember& member, const Stated& stated,
                     bool may_be_open, std::string_view who) {
  const auto differs = [may_be_open](std::uint64_t here, std::uint64_t there) {
    return here != there && !(may_be_open && here == 0);
  };
  const auto& path = member.path.text();
  if (differs(stated.crc, member.crc)) {
    return refuse(file, "the CRC of `{}` in the {} differs from the central directory", path, who);
  }
  if (differs(stated.compressed, member.compressed)) {
    return refuse(file, "the compressed size of `{}` in the {} is {}, in the central directory {}",
                  path, who, stated.compressed, member.compressed);
  }
  if (differs(stated.size, member.size)) {
    return refuse(file, "the size of `{}` in the {} is {}, in the central directory {}", path, who,
                  stated.size, member.size);
  }
  return {};
}

/// What lies between the end of the data and the next header.
Result<void> check_rest(const RandomAccess& file, const ZipMember& member, std::uint64_t data_end) {
  const std::uint64_t rest = member.end_offset - data_end;
  std::array<std::uint8_t, 24> bytes{};
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(rest, bytes.size()));
  CUKIT_TRY(file.read_at(data_end, std::span(bytes).first(count)));
  const auto& path = member.path.text();
  if (count >= 4 && u32(bytes, 0) == k_local_signature) {
    return refuse(file, "a member that the directory does not list lies after `{}`", path);
  }
  if ((member.flags & k_flag_descriptor) == 0) {
    return rest == 0 ? Result<void>()
                     : refuse(file, "{} bytes after `{}` belong to no member", rest, path);
  }
  // The signature is optional, the sizes have 4 or 8 bytes: the length tells which of the four.
  const bool with_signature = rest == 16 || rest == 24;
  const bool wide = rest == 20 || rest == 24;
  if (rest != 12 && !with_signature && !wide) {
    return refuse(file, "`{}` has no data descriptor that ends at the next header", path);
  }
  if (with_signature && u32(bytes, 0) != k_descriptor_signature) {
    return refuse(file, "the data descriptor of `{}` has no valid signature", path);
  }
  const Bytes fields = Bytes(bytes).subspan(with_signature ? 4 : 0);
  const Stated stated = wide ? Stated{u32(fields, 0), u64(fields, 4), u64(fields, 12)}
                             : Stated{u32(fields, 0), u32(fields, 4), u32(fields, 8)};
  return compare(file, member, stated, false, "data descriptor");
}

Result<void> check_fields(const RandomAccess& file, const ZipMember& member, bool is_folder,
                          Bytes header) {
  const std::string name = member.path.text() + (is_folder ? "/" : "");
  const std::size_t name_bytes = u16(header, 26);
  if (text(header.subspan(k_local_bytes, name_bytes)) != name) {
    return refuse(file, "`{}` has another name in its local header", name);
  }
  if (u16(header, 6) != member.flags) {
    return refuse(file,
                  "the flags of `{}` are 0x{:04x} in the local header and 0x{:04x} in the "
                  "central directory",
                  name, u16(header, 6), member.flags);
  }
  if (u16(header, 8) != member.method) {
    return refuse(file,
                  "the method of `{}` is {} in the local header and {} in the central directory",
                  name, u16(header, 8), member.method);
  }
  CUKIT_TRY_ASSIGN(const Extra extra,
                   parse_extra(file, header.subspan(k_local_bytes + name_bytes), name));
  Stated stated{u32(header, 14), u32(header, 18), u32(header, 22)};
  const bool streamed = (member.flags & k_flag_descriptor) != 0;
  // A streaming writer announces 8-byte descriptors by an extra field of zeros, or an empty one.
  const bool announces = streamed && extra.zip64 && stated.size == 0 && stated.compressed == 0;
  if (!announces) {
    CUKIT_TRY(resolve_zip64(file, extra, name, {&stated.size, &stated.compressed}));
  }
  return compare(file, member, stated, streamed, "local header");
}

/// The content of a folder is never read, so nothing may hide there.
Result<void> check_folder(const RandomAccess& file, const ZipMember& member, std::uint64_t data) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(member.compressed));
  CUKIT_TRY(file.read_at(data, bytes));
  if (!bytes.empty() && !std::equal(bytes.begin(), bytes.end(), k_deflated_nothing.begin(),
                                    k_deflated_nothing.end())) {
    return refuse(file, "the folder `{}` carries data", member.path.text());
  }
  return {};
}

} // namespace

Result<std::uint64_t> check_local(const RandomAccess& file, const ZipMember& member,
                                  bool is_folder) {
  const auto& path = member.path.text();
  const std::uint64_t room = member.end_offset - member.header_offset;
  // Long enough for nearly every header, so that one read does.
  std::vector<std::uint8_t> header(
      static_cast<std::size_t>(std::min<std::uint64_t>(room, k_local_bytes + path.size() + 64)));
  CUKIT_TRY(file.read_at(member.header_offset, header));
  if (header.size() < k_local_bytes || u32(header, 0) != k_local_signature) {
    return refuse(file, "there is no local header where the directory says that `{}` begins", path);
  }
  const std::size_t total = k_local_bytes + u16(header, 26) + u16(header, 28);
  if (total > room || member.compressed > room - total) {
    return refuse(file, "`{}` overlaps what comes after it", path);
  }
  if (total > header.size()) {
    const std::size_t have = header.size();
    header.resize(total);
    CUKIT_TRY(file.read_at(member.header_offset + have, std::span(header).subspan(have)));
  }
  CUKIT_TRY(check_fields(file, member, is_folder, Bytes(header).first(total)));
  const std::uint64_t data = member.header_offset + total;
  CUKIT_TRY(check_rest(file, member, data + member.compressed));
  if (is_folder) {
    CUKIT_TRY(check_folder(file, member, data));
  }
  return data;
}

} // namespace cukit::archive::zip
