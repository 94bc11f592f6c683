// Puts one file of the store into a tree, as cheaply as the file system lets it.
#pragma once

#include "assemble/assemble.hpp"

namespace cukit::assemble {

class Placer {
public:
  explicit Placer(Placement placement)
      : way_(placement == Placement::link ? Way::hard_link : Way::reflink) {}

  /// Creates `name` in the folder `folder_fd`, which must not have it. A hard link shares mode and
  /// time stamp with the store; a copy gets the same ones.
  Result<void> place(const TreeFile& file, int folder_fd, const std::string& name);

  enum class Way { hard_link, reflink, copy };
  /// The way that worked last; it only ever goes down the list, because all files come from one
  /// store and go to one tree.
  [[nodiscard]] Way way() const { return way_; }

private:
  Way way_;
};

/// Mode 0444 or 0555 and time stamp 1 of an open file.
Result<void> seal_file(int fd, bool executable);

} // namespace cukit::assemble
