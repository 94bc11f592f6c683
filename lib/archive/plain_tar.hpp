// An uncompressed tar file as a container that is read in place: plain ustar with nothing in it but
// names, sizes and bytes, so that equal content gives equal bytes.
#pragma once

#include "base/files.hpp"
#include "base/random_access.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace cukit::archive {

struct PlainTarItem {
  std::string name;
  const RandomAccess* bytes = nullptr;
};

/// Writes a file that must not exist, sorted by name, every member with mode 0644, owner 0 and time
/// 1, and syncs it. A member of more than 8 GB or with a name that ustar cannot hold is an error.
Result<void> write_plain_tar(const fs::path& path, std::vector<PlainTarItem> items,
                             const std::stop_token& stop);

struct PlainTarMember {
  std::string name;
  std::uint64_t offset = 0; ///< of its bytes in the file
  std::uint64_t size = 0;
};

/// The members of a file that write_plain_tar made. Anything else (other formats, links, folders, a
/// name twice, a cut file) is an error of code integrity.
Result<std::vector<PlainTarMember>> list_plain_tar(const fs::path& path);

} // namespace cukit::archive
