// A Python index (or several, in order; the first that has a project wins) and find-links folders as a catalog.
#pragma once

#include "catalog/catalog.hpp"
#include "http/client.hpp"
#include "source/source.hpp"

#include <functional>

namespace cukit::catalog {

/// The members of a wheel that only they are needed of, read by ranges: RECORD's digest and the sizes.
struct RemoteWheel {
  std::string metadata;
  Sha256 record;
};

class PythonIndex {
public:
  /// `client` and `sources` must outlive it.
  PythonIndex(http::Client& client, const source::Sources& sources) : client_(client), sources_(sources) {}

  /// Pages of all `projects` and METADATA of those cuda-toolkit releases that `wanted` accepts. A project that no index has is left
  /// out with a note; an index that cannot be reached is an error.
  Result<Catalog> load(const std::vector<std::string>& projects, const std::function<bool(const Version&)>& wanted,
                       const std::stop_token& stop);

  /// Where the bytes of a locked file are now: URLs and local paths in order of preference, found by file name and sha256 in
  /// find-links folders and on the project's pages. None: an error that names every source that was asked.
  Result<std::vector<std::string>> locate(const std::string& file, const Sha256& sha256, const std::stop_token& stop);
  /// The same for several files with one round of requests.
  Result<std::vector<std::vector<std::string>>> locate_all(const std::vector<std::pair<std::string, Sha256>>& files,
                                                           const std::stop_token& stop);

  /// Random access to a located wheel: by ranges over http, directly for a path.
  Result<std::unique_ptr<RandomAccess>> open(const std::string& location, std::uint64_t size, const std::stop_token& stop);
  /// METADATA and RECORD's digest of a wheel without downloading it.
  Result<RemoteWheel> inspect(const WheelFile& wheel, const std::stop_token& stop);

private:
  Result<std::vector<WheelFile>> page(const std::string& project, bool& found, const std::stop_token& stop);
  http::Client& client_;
  const source::Sources& sources_;
  std::map<std::string, std::vector<WheelFile>> pages_; ///< what was read already
};

} // namespace cukit::catalog
