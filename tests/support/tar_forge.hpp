// Builds tar and xz files block by block, good ones and every kind of bad one: whatever a header
// says can be made to differ from the truth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::test {

struct ForgedTarEntry {
  std::string name;
  std::string content = {};
  char type = '0';
  std::string link = {};
  unsigned mode = 0644;
  std::string prefix = {};
  std::optional<std::string> size = {}; ///< the field's 12 bytes as they are; empty: the truth
  std::string magic = {"ustar\00000", 8};
  std::optional<std::uint32_t> checksum = {};
};

struct ForgedTarEnd {
  int zero_blocks = 2;
  std::string behind = {}; ///< after the zero blocks
  std::size_t cut = 0;     ///< bytes that are missing at the very end
};

std::string forge_tar(const std::vector<ForgedTarEntry>& entries, const ForgedTarEnd& end = {});

/// An extended header (`x` or, for all entries, `g`) of these records, before the entry it is
/// about.
ForgedTarEntry pax_header(const std::vector<std::pair<std::string, std::string>>& records,
                          char type = 'x');
/// The same with a payload that may be anything.
ForgedTarEntry raw_pax_header(std::string payload, char type = 'x');
/// One record with its length: "12 path=a/b\n".
std::string pax_record(std::string_view key, std::string_view value);
/// GNU tar's long name (`L`) or long link (`K`).
ForgedTarEntry gnu_long(std::string name, char type = 'L');

/// What `xz` with these settings makes of the bytes (liblzma).
std::string xz_of(std::string_view bytes);
struct XzOptions {
  std::uint32_t preset = 0;
  std::uint32_t dictionary = 0; ///< 0: the preset's
  int check = 4;                ///< LZMA_CHECK_CRC64
  std::size_t block = 0;        ///< bytes of a block; 0: one block
};
std::string xz_of(std::string_view bytes, const XzOptions& options);

} // namespace cukit::test
