// Where the bytes of a home are. Files that several trees and the store share are stored once, and
// counted once in every sum.
#pragma once

#include "store/layout.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace cukit::home {

struct TreeUsage {
  std::string id;
  std::vector<std::string> names; ///< "demo" or "demo@2" for a generation that is not current
  std::uint64_t bytes = 0;        ///< everything in it
  std::uint64_t own_bytes = 0;    ///< what has no other name: comes back when the tree alone goes
  std::uint64_t files = 0;
};

struct DiskUsage {
  std::vector<TreeUsage> trees; ///< sorted by id
  std::uint64_t store = 0;      ///< all entries
  std::uint64_t all_trees = 0;  ///< all trees
  std::uint64_t shared = 0;    ///< what would be needed more if every tree and the store had copies
  std::uint64_t cache = 0;     ///< downloads and JIT caches
  std::uint64_t downloads = 0; ///< of these
  std::uint64_t staging = 0;
  std::uint64_t reports = 0;
  std::uint64_t total = 0;
  std::vector<Error> damaged = {}; ///< generations that cannot be read
};

Result<DiskUsage> disk_usage(const store::Home& home, const std::stop_token& stop);

} // namespace cukit::home
