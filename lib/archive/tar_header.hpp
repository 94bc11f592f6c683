// What a block of a tar file says, read strictly (POSIX.1-2017 pax, and GNU tar's long names).
// Private to archive/.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cukit::archive::tar {

constexpr std::size_t k_block = 512;

constexpr char k_file = '0';
constexpr char k_old_file = '\0';
constexpr char k_hard_link = '1';
constexpr char k_symbolic_link = '2';
constexpr char k_folder = '5';
constexpr char k_pax = 'x';
constexpr char k_global_pax = 'g';
constexpr char k_gnu_name = 'L';
constexpr char k_gnu_link = 'K';

struct Header {
  char type = k_file;
  std::uint64_t size = 0; ///< of what follows
  std::string name;
  std::string link;
};

/// The checksum is left to libarchive, which sees the same block. Pre-POSIX headers are refused.
Result<Header> parse_header(std::span<const std::uint8_t, k_block> block, const std::string& where);

/// What the records of an extended header put in place of the header's own fields.
struct Records {
  std::optional<std::string> path;
  std::optional<std::string> link;
  std::optional<std::uint64_t> size;
};

/// Attributes, times and owners are passed over, as nothing of them is kept. A record that would
/// make two readers see different files is refused: one key twice, NUL in a key, another character
/// set, sparse files, and names or sizes for all entries at once (`is_global`).
Result<Records> parse_records(std::string_view payload, bool is_global, const std::string& where);

/// A name as GNU tar stores long ones: ended by NUL.
Result<std::string> parse_long_name(std::string_view payload, const std::string& where);

} // namespace cukit::archive::tar
