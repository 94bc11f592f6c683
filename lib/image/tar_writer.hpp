// A tar file (POSIX.1-2017 pax) of which every byte follows from what is put in: owner 0, time 1,
// modes by kind, and a record of its own where a name is long or not ASCII.
#pragma once

#include "image/packed_file.hpp"

#include <set>
#include <stop_token>

namespace cukit::image {

/// One path. The folders above it are put in by the writer.
struct Item {
  std::string path; ///< from the image's root on, without a slash in front
  bool is_executable = false;
  std::string link = {}; ///< target of a symbolic link, else empty
  std::uint64_t size = 0;
  Sha256 sha256 = {};       ///< that the bytes must have
  fs::path from = {};       ///< where they are; empty: `content`
  std::string content = {}; ///< then size and sha256 are taken from it
};

/// Writes the items (sorted by path, or it is an error of code usage), and what ends a tar file. A
/// file whose bytes are not those of its digest any more is an error of code integrity.
Result<void> write_tar(PackedFile& file, const std::vector<Item>& items,
                       const std::stop_token& stop);

} // namespace cukit::image
