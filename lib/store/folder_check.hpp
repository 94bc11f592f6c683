// Compares a folder on disk with the list of what it should hold: for `verify` of store entries and
// of trees.
#pragma once

#include "base/sha256.hpp"
#include "model/relative_path.hpp"

#include <map>
#include <mutex>
#include <stop_token>
#include <sys/types.h>
#include <vector>

namespace cukit::store {

struct ExpectedPath {
  RelativePath path;
  unsigned mode = 0444;
  std::uint64_t size = 0;
  Sha256 sha256;
  std::string link; ///< target of a symbolic link; empty: a file
};

struct Difference {
  enum class Kind { modified, missing, extra, mode, link };
  Kind kind = Kind::modified;
  std::string path;   ///< in the folder; an extra folder ends with a slash
  std::string detail; ///< what it is and what it was; may be empty
};
/// "modified", "missing", "extra", "mode changed", "link changed"
std::string_view name_of(Difference::Kind kind);
/// One line for people: "mode changed: bin/tool (0755, was 0555)".
std::string text_of(const Difference& difference);

/// Digests of files with several names, so that a run over many folders hashes each file once. Safe
/// from several threads.
class DigestMemory {
public:
  /// The digest of the file, which has `names` names.
  Result<Sha256> of(const fs::path& file, dev_t device, ino_t inode, nlink_t names);

private:
  std::mutex mutex_; ///< guards the map
  std::map<std::pair<dev_t, ino_t>, Sha256> known_;
};

/// What differs, is missing or is extra, sorted by path; at most one difference for a path. All
/// content is hashed, on as many threads as there are processors. `expected` is sorted by path; the
/// names `ignored` at the top of the folder are not looked at. Follows no link.
Result<std::vector<Difference>> compare_folder(const fs::path& folder,
                                               const std::vector<ExpectedPath>& expected,
                                               const std::vector<std::string>& ignored,
                                               const std::stop_token& stop, DigestMemory& memory);
/// The same as lines for people.
Result<std::vector<std::string>> check_folder(const fs::path& folder,
                                              const std::vector<ExpectedPath>& expected,
                                              const std::vector<std::string>& ignored,
                                              const std::stop_token& stop);

} // namespace cukit::store
