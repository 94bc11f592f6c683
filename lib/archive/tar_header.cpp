#include "archive/tar_header.hpp"

#include "archive/refuse.hpp"
#include "base/number.hpp"
#include "base/strings.hpp"

#include <algorithm>

namespace cukit::archive::tar {

namespace {

using Block = std::span<const std::uint8_t, k_block>;

std::string_view field(Block block, std::size_t at, std::size_t size) {
  return {reinterpret_cast<const char*>(block.data()) + at, size};
}

std::string_view until_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

/// Octal digits, then NUL or blanks; or the number's own bytes behind a byte 0x80, for what has
/// more than eleven digits.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first == 0x80U) {
    std::uint64_t value = 0;
    for (const char c : text.substr(1)) {
      if (value >> 55U != 0) {
        return std::nullopt;
      }
      value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
  }
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '7') {
    value = value << 3U | static_cast<std::uint64_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  const bool ended = text.find_first_not_of(std::string_view(" \0", 2)) == std::string_view::npos;
  return ended ? std::optional(value) : std::nullopt;
}

Result<void> set_once(std::optional<std::string>& target, std::string_view key,
                      std::string_view value, const std::string& where) {
  if (target || value.empty()) {
    return refuse_archive(where, "an extended header of the tar file has {} {}",
                          target ? "two values of" : "an empty", key);
  }
  target = std::string(value);
  return {};
}

bool makes_sparse(std::string_view key) {
  return key.starts_with("GNU.sparse.") || key == "SUN.holesdata" || key == "SCHILY.realsize";
}

bool is_known_charset(std::string_view value) {
  // BINARY: as it stands; every name has to be UTF-8 anyway
  return value == "ISO-IR 10646 2000 UTF-8" || value == "BINARY";
}

Result<void> apply(Records& records, std::string_view key, std::string_view value, bool is_global,
                   const std::string& where) {
  const bool is_about_content = key == "path" || key == "linkpath" || key == "size";
  if (is_global && is_about_content) {
    return refuse_archive(where, "the tar file gives one {} to all of its entries", key);
  }
  if (makes_sparse(key)) {
    return refuse_archive(where, "the tar file holds a sparse file");
  }
  if (key == "hdrcharset" && !is_known_charset(value)) {
    return refuse_archive(where, "a name in the tar file is in the character set `{}`",
                          printable(value.substr(0, 100)));
  }
  if (key == "path") {
    return set_once(records.path, key, value, where);
  }
  if (key == "linkpath") {
    return set_once(records.link, key, value, where);
  }
  if (key == "size") {
    const auto size = whole_number(value);
    if (!size || records.size) {
      return refuse_archive(where, "an extended header of the tar file has {}",
                            size ? "two sizes" : "a size that is no number");
    }
    records.size = size;
  }
  return {};
}

} // namespace

Result<Header> parse_header(Block block, const std::string& where) {
  const auto magic = field(block, 257, 8);
  const bool is_posix = magic == std::string_view("ustar\00000", 8);
  if (!is_posix && magic != std::string_view("ustar  \0", 8)) {
    return refuse_archive(where, "a header of the tar file is none that POSIX or GNU tar describe");
  }
  const auto size = parse_size(field(block, 124, 12));
  if (!size) {
    return refuse_archive(where, "a size in the tar file is no number that a file can have");
  }
  Header header{.type = static_cast<char>(block[156]),
                .size = *size,
                .name = std::string(until_nul(field(block, 0, 100))),
                .link = std::string(until_nul(field(block, 157, 100)))};
  const auto prefix = until_nul(field(block, 345, 155));
  if (!is_posix && !prefix.empty()) { // times, by GNU tar; a part of the name, by Python
    return refuse_archive(where, "`{}` has a GNU header with something in the place of a prefix",
                          printable(header.name));
  }
  if (!prefix.empty()) {
    header.name = std::string(prefix) + "/" + header.name;
  }
  return header;
}

Result<Records> parse_records(std::string_view payload, bool is_global, const std::string& where) {
  Records records;
  while (!payload.empty()) {
    const auto space = payload.find(' ');
    const auto length = whole_number(payload.substr(0, std::min(space, payload.size())));
    if (!length || *length <= space + 1 || *length > payload.size()) {
      return refuse_archive(where, "a record of an extended header in the tar file has no length "
                                   "that fits");
    }
    const auto record = payload.substr(space + 1, static_cast<std::size_t>(*length) - space - 1);
    const auto equals = record.find('=');
    if (equals == 0 || equals == std::string_view::npos || record.back() != '\n' ||
        record.substr(0, equals).find('\0') != std::string_view::npos) {
      return refuse_archive(where,
                            "a record of an extended header in the tar file is not KEY=VALUE "
                            "and a line end");
    }
    const auto value = record.substr(equals + 1, record.size() - equals - 2);
    CUKIT_TRY(apply(records, record.substr(0, equals), value, is_global, where));
    payload.remove_prefix(static_cast<std::size_t>(*length));
  }
  return records;
}

Result<std::string> parse_long_name(std::string_view payload, const std::string& where) {
  const auto nul = payload.find('\0');
  if (nul == 0 || payload.empty() ||
      payload.find_first_not_of('\0', std::min(nul, payload.size())) != std::string_view::npos) {
    return refuse_archive(where, "a long name in the tar file is empty or holds NUL");
  }
  return std::string(until_nul(payload));
}

} // namespace cukit::archive::tar
