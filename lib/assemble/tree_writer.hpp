// Writes paths that come sorted into one folder. Keeps the folders of the current path open, so
// that no path is looked up from the top again, and closes each with its mode and time stamp once
// all of its content is there. Folders of a linked tree are read-only; the top one stays writable,
// because a folder that is not cannot be moved (seal_tree() ends that).
#pragma once

#include "assemble/placer.hpp"

#include <vector>

namespace cukit::assemble {

class TreeWriter {
public:
  static Result<TreeWriter> open(const fs::path& folder, Placement placement);

  /// `files` must come sorted by path, each once.
  Result<void> add(const TreeFile& file);
  /// Closes all folders. Nothing may be added afterwards.
  Result<void> finish();
  [[nodiscard]] const Placer& placer() const { return placer_; }

private:
  struct Folder {
    std::string path; ///< in the tree, empty for the tree itself
    Fd fd;
  };
  explicit TreeWriter(Placement placement)
      : placer_(placement), folder_mode_(placement == Placement::link ? 0555 : 0755) {}
  Result<void> enter(const RelativePath& folder);
  Result<void> leave();

  Placer placer_;
  unsigned folder_mode_;
  std::vector<Folder> open_; ///< from the tree's own folder down
};

} // namespace cukit::assemble
