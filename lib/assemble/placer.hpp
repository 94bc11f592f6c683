// Puts one file of the store into a tree, as cheaply as the file systems let it: a reflink (its own
// file that shares the blocks until somebody writes), else a hard link (the same file), else a
// copy. What a pair of file systems cannot do is found out once; what one file cannot have (too
// many names, a lock held by somebody else) is decided for that file alone.
#pragma once

#include "assemble/assemble.hpp"

#include <sys/types.h>

namespace cukit::assemble {

class Placer {
public:
  explicit Placer(Placement placement) : placement_(placement) {}

  /// Creates `name` in the folder `folder_fd`, which must not have it. A hard link shares mode and
  /// time stamp with the store; the others get the same ones.
  Result<void> place(const TreeFile& file, int folder_fd, const std::string& name);

  struct Counts {
    std::uint64_t reflinks = 0;
    std::uint64_t hard_links = 0;
    std::uint64_t copies = 0;
    std::uint64_t copied_bytes = 0;
    int why_copied = 0; ///< the number of the first refusal that led to a copy
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// One sentence for people when files were copied that should have been shared; else empty.
  [[nodiscard]] std::string complaint() const;

private:
  /// What was learnt about files that come from one file system.
  struct Ways {
    bool reflink = true;
    bool hard_link = true;
  };
  Result<Ways*> ways_from(const TreeFile& file);
  Result<bool> try_reflink(const TreeFile& file, int from, int folder_fd, const std::string& name,
                           Ways& ways);
  Result<bool> try_hard_link(const TreeFile& file, int folder_fd, const std::string& name,
                             Ways& ways);
  Result<void> copy(const TreeFile& file, int from, int folder_fd, const std::string& name);

  Placement placement_;
  std::map<dev_t, Ways> ways_; ///< by the source's file system; there is one target
  std::string folder_;         ///< of the last source, with its slash: neighbours come in a row
  Ways* folder_ways_ = nullptr;
  Counts counts_;
};

/// Mode 0444 or 0555 and time stamp 1 of an open file.
Result<void> seal_file(int fd, bool executable);

} // namespace cukit::assemble
