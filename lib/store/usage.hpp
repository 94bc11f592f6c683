// How much of the disk folders take, where files have several names.
#pragma once

#include "base/files.hpp"

#include <map>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>

namespace cukit::store {

/// Counts every file once, whatever its number of names.
class Usage {
public:
  /// Adds everything below `folder`; one that is not there is empty. Follows no link. What vanishes
  /// while it is looked at is passed over.
  Result<void> add(const fs::path& folder);
  /// Adds one file; one that is not there counts nothing.
  void add_file(const fs::path& file);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; } ///< as the disk counts, in bytes
  /// Of these, in files that have no name outside of the folders that were added.
  [[nodiscard]] std::uint64_t own_bytes() const;
  [[nodiscard]] std::uint64_t files() const { return seen_.size(); }

private:
  void count(const struct stat& info);
  struct Seen {
    nlink_t left = 0; ///< names that were not met yet
    std::uint64_t bytes = 0;
  };
  std::map<std::pair<dev_t, ino_t>, Seen> seen_;
  std::uint64_t bytes_ = 0;
};

} // namespace cukit::store
