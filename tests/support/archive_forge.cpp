#include "support/archive_forge.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>
#include <zlib.h>

namespace cukit::test {

namespace {

constexpr std::uint16_t k_descriptor_flag = 8;

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * i) & 0xffU);
  }
  return text;
}

/// An entry with everything computed that its headers may say.
struct Built {
  std::string data;
  std::uint32_t crc;
  std::uint16_t flags;
};

Built build(const ForgedEntry& entry) {
  Built built;
  built.data = entry.raw           ? *entry.raw
               : entry.method == 8 ? raw_deflate(entry.content)
                                   : entry.content;
  built.crc = crc32_of(entry.content);
  built.flags = entry.descriptor == Descriptor::none ? 0 : k_descriptor_flag;
  return built;
}

std::string fields(const ForgedEntry& entry, const Built& built, const ForgedHeader& says,
                   bool open_sizes) {
  const auto known = [open_sizes](std::uint64_t value) {
    return open_sizes ? 0U : static_cast<std::uint32_t>(value);
  };
  return le16(entry.version_needed) + le16(says.flags.value_or(built.flags)) +
         le16(says.method.value_or(entry.method)) + le32(0x00210000) + // 1980-01-01 00:00
         le32(says.crc.value_or(known(built.crc))) +
         le32(says.compressed.value_or(known(built.data.size()))) +
         le32(says.size.value_or(known(entry.content.size())));
}

std::string local_header(const ForgedEntry& entry, const Built& built) {
  const auto name = entry.local.name.value_or(entry.name);
  return "PK\3\4" + fields(entry, built, entry.local, entry.descriptor != Descriptor::none) +
         le16(static_cast<std::uint16_t>(name.size())) +
         le16(static_cast<std::uint16_t>(entry.local.extra.size())) + name + entry.local.extra;
}

std::string descriptor(const ForgedEntry& entry, const Built& built) {
  const bool wide =
      entry.descriptor == Descriptor::plain64 || entry.descriptor == Descriptor::signed64;
  const bool with_signature =
      entry.descriptor == Descriptor::signed32 || entry.descriptor == Descriptor::signed64;
  if (entry.descriptor == Descriptor::none) {
    return {};
  }
  const int width = wide ? 8 : 4;
  return (with_signature ? "PK\7\10" : "") + le32(entry.descriptor_crc.value_or(built.crc)) +
         little_endian(built.data.size(), width) + little_endian(entry.content.size(), width);
}

std::string central_header(const ForgedEntry& entry, const Built& built, std::size_t offset) {
  const auto name = entry.central.name.value_or(entry.name);
  constexpr std::uint16_t made_by_unix = 3U << 8U | 20U;
  return "PK\1\2" + le16(made_by_unix) + fields(entry, built, entry.central, false) +
         le16(static_cast<std::uint16_t>(name.size())) +
         le16(static_cast<std::uint16_t>(entry.central.extra.size())) + le16(0) + le16(0) +
         le16(0) + le32(entry.attributes) +
         le32(entry.offset.value_or(static_cast<std::uint32_t>(offset))) + name +
         entry.central.extra;
}

std::string zip64_end(const ForgedEnd& end, std::uint64_t entries, std::uint64_t size,
                      std::uint64_t offset, std::uint64_t here) {
  return "PK\6\6" + le64(44 + end.zip64_extensible.size()) + le16(45) + le16(45) + le32(0) +
         le32(0) + le64(entries) + le64(entries) + le64(size) + le64(offset) +
         end.zip64_extensible + "PK\6\7" + le32(0) + le64(end.zip64_offset.value_or(here)) +
         le32(1);
}

} // namespace

std::string le16(std::uint16_t value) {
  return little_endian(value, 2);
}
std::string le32(std::uint32_t value) {
  return little_endian(value, 4);
}
std::string le64(std::uint64_t value) {
  return little_endian(value, 8);
}

std::string extra_field(std::uint16_t id, std::string_view value) {
  return le16(id) + le16(static_cast<std::uint16_t>(value.size())) + std::string(value);
}

std::uint32_t crc32_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string raw_deflate(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib cannot start");
  }
  std::string out(deflateBound(&stream, bytes.size()) + 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) {
    throw std::runtime_error("zlib does not finish");
  }
  return out;
}

std::optional<std::string> raw_inflate(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) {
    throw std::runtime_error("zlib cannot start");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::array<char, 65536> piece{};
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = ::inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  const bool whole = result == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  return whole ? std::optional(out) : std::nullopt;
}

std::string forge_zip(const std::vector<ForgedEntry>& entries, const ForgedEnd& end) {
  std::string bytes;
  std::string directory;
  std::uint16_t listed = 0;
  for (const auto& entry : entries) {
    const auto built = build(entry);
    bytes += entry.before;
    const auto offset = bytes.size();
    if (!entry.is_only_listed) {
      bytes += local_header(entry, built) + built.data + descriptor(entry, built) + entry.after;
    }
    if (!entry.is_hidden) {
      directory += central_header(entry, built, offset);
      ++listed;
    }
  }
  bytes += end.before_directory;
  const auto offset = static_cast<std::uint32_t>(bytes.size());
  bytes += directory + end.after_directory;
  const auto size = static_cast<std::uint32_t>(directory.size());
  if (end.zip64) {
    bytes += zip64_end(end, listed, size, offset, bytes.size());
  }
  const bool passed_on = end.zip64 && end.zip64_sentinels;
  const auto count = end.entries.value_or(passed_on ? 0xffff : listed);
  bytes += "PK\5\6" + le16(end.disk) + le16(end.disk) + le16(count) + le16(count) +
           le32(end.directory_size.value_or(passed_on ? 0xffffffff : size)) +
           le32(end.directory_offset.value_or(passed_on ? 0xffffffff : offset)) +
           le16(end.comment_length.value_or(static_cast<std::uint16_t>(end.comment.size()))) +
           end.comment;
  return end.prefix + bytes + end.suffix;
}

std::string record_digest(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("no SHA-256");
  }
  std::string text(64, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), digest.data(),
                                     static_cast<int>(size));
  text.resize(static_cast<std::size_t>(length));
  for (auto& c : text) {
    c = c == '+' ? '-' : c == '/' ? '_' : c;
  }
  return "sha256=" + text.substr(0, text.find('='));
}

std::vector<ForgedEntry> wheel_entries(const ForgedWheel& wheel) {
  const auto folder = wheel.dist_info.value_or(wheel.name + "-" + wheel.version + ".dist-info");
  std::string metadata =
      "Metadata-Version: 2.1\nName: " + wheel.name + "\nVersion: " + wheel.version + "\n";
  for (const auto& requirement : wheel.requires_dist) {
    metadata += "Requires-Dist: " + requirement + "\n";
  }
  auto files = wheel.files;
  files.emplace_back(folder + "/METADATA", wheel.metadata.value_or(metadata));
  files.emplace_back(folder + "/WHEEL",
                     wheel.wheel.value_or("Wheel-Version: 1.0\nGenerator: forge\n"
                                          "Root-Is-Purelib: true\nTag: py3-none-any\n"));
  std::vector<ForgedEntry> entries;
  std::string record;
  for (const auto& [path, content] : files) {
    entries.push_back({.name = path, .content = content});
    const auto row = wheel.rows.find(path);
    record += row != wheel.rows.end() ? row->second
                                      : path + "," + record_digest(content) + "," +
                                            std::to_string(content.size()) + "\n";
  }
  record += wheel.extra_rows + folder + "/RECORD,,\n";
  entries.insert(entries.end(), wheel.unlisted.begin(), wheel.unlisted.end());
  if (wheel.has_record) {
    entries.push_back({.name = folder + "/RECORD", .content = wheel.record.value_or(record)});
  }
  return entries;
}

std::string forge_wheel(const ForgedWheel& wheel) {
  return forge_zip(wheel_entries(wheel));
}

std::string wheel_file_name(const ForgedWheel& wheel) {
  return wheel.name + "-" + wheel.version + "-py3-none-any.whl";
}

} // namespace cukit::test
