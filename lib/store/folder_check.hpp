// Compares a folder on disk with the list of what it should hold: for `verify` of store entries and
// of trees.
#pragma once

#include "base/sha256.hpp"
#include "model/relative_path.hpp"

#include <stop_token>
#include <vector>

namespace cukit::store {

struct ExpectedPath {
  RelativePath path;
  unsigned mode = 0444;
  std::uint64_t size = 0;
  Sha256 sha256;
  std::string link; ///< target of a symbolic link; empty: a file
};

/// What differs, is missing or is extra, one line each ("modified: bin/nvcc"), sorted by path. All
/// content is hashed, on as many threads as there are processors. `expected` is sorted by path; the
/// names `ignored` at the top of the folder are not looked at. Follows no link.
Result<std::vector<std::string>> check_folder(const fs::path& folder,
                                              const std::vector<ExpectedPath>& expected,
                                              const std::vector<std::string>& ignored,
                                              const std::stop_token& stop);

} // namespace cukit::store
