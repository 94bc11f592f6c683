// One layer of a container image: a tar file, plain, gzip or zstd, laid over a folder to be looked
// at. Unlike the tree's sink it must take whatever an image holds; it writes and removes below
// `root` alone and goes through no link.
#pragma once

#include "base/files.hpp"
#include "base/limits.hpp"

#include <functional>
#include <set>

namespace cukit::image {

/// What all layers of one image may cost together. It grows with the size of each file that is
/// read, once for each: an image that lists one layer a thousand times is no larger for it.
class LayerBudget {
public:
  void grow(const fs::path& file, std::uint64_t size);

  std::uint64_t unpacked = limits::k_layer_free_unpacked; ///< bytes that may still come out
  std::uint64_t written = limits::k_layer_free_written;   ///< bytes that may still go to the disk
  std::uint64_t entries = limits::k_layer_free_entries;
  std::uint64_t passed_over = 0; ///< wanted files that became holes when `written` was spent

private:
  std::set<fs::path> known_;
};

/// Whether the bytes of a file (path, size) are wanted.
using IsWanted = std::function<bool(std::string_view, std::uint64_t)>;

/// Lays the entries over `root` as an image's layer: whiteouts remove, folders stay, files and
/// links replace. Files for which `is_wanted` (path, size) is false become holes of their size, and
/// so do those for which the budget has no bytes left. A whiteout of what is no name in its folder,
/// and a layer that has more entries or unpacks to more than the budget allows, are refused.
Result<void> apply_layer(const fs::path& tar, const fs::path& root, const IsWanted& is_wanted,
                         LayerBudget& budget);

} // namespace cukit::image
