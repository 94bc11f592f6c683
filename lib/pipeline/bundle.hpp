// Everything that some manifests need in one file, for a machine without a network: a plain tar
// file with manifests, locks and artifacts. Of an artifact that comes by byte ranges it holds the
// ranges alone, which are verified as if a server had sent them. Equal locks give equal bytes.
//
//   artifacts/<sha256>       a whole artifact
//   cukit-bundle.json        {"cukit-bundle": 1, "files": {NAME: sha256}, "parts": {KEY: ...}}
//   manifests/NAME.yaml, manifests/NAME.lock.yaml
//   parts/<store key>        the ranges of an artifact, one after the other; where they belong
//                            stands in cukit-bundle.json
#pragma once

#include "base/random_access.hpp"
#include "lock/lock.hpp"
#include "text/json.hpp"

#include <map>
#include <memory>
#include <stop_token>

namespace cukit::pipeline {

class Bundle {
public:
  /// Reads and verifies all but the artifacts. What is damaged, or no bundle, is an error of code
  /// integrity.
  static Result<Bundle> open(const fs::path& file);

  /// File names of the manifests, sorted.
  [[nodiscard]] std::vector<std::string> manifests() const;
  /// Puts a manifest and its lock into `folder` and returns the manifest's path.
  Result<fs::path> extract(const std::string& manifest, const fs::path& folder) const;

  /// The bytes of a locked artifact, or those ranges of it that the lock names (reading elsewhere
  /// is an error). A whole one was compared with its digest. The bundle must outlive the value.
  Result<std::unique_ptr<RandomAccess>> find(const lock::Artifact& artifact,
                                             const std::stop_token& stop) const;

private:
  struct Range {
    std::uint64_t offset = 0; ///< in the artifact
    std::uint64_t size = 0;
    std::uint64_t at = 0; ///< in the file
  };
  struct Part {
    std::uint64_t size = 0; ///< of the artifact
    std::vector<Range> ranges;
  };
  struct Member {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  class Ranges;

  Bundle() = default;
  Result<void> read_index();
  Result<void> read_parts(const std::vector<std::pair<std::string, text::Json>>& parts);
  Result<std::string> text_of(const std::string& name) const;
  [[nodiscard]] Error damaged(std::string why) const;

  std::string where_;
  std::unique_ptr<RandomAccess> file_;
  std::map<std::string, Member> members_;
  std::map<std::string, Part> parts_;
};

} // namespace cukit::pipeline
