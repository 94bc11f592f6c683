// A Python index (or several, in order; the first that has a project wins) and find-links folders
// as a catalog. An index may be a folder: of project folders with wheels, or of wheels.
#pragma once

#include "catalog/catalog.hpp"
#include "http/client.hpp"
#include "source/source.hpp"

#include <functional>
#include <span>

namespace cukit::catalog {

/// What inspect() reads of a wheel by ranges.
struct RemoteWheel {
  std::string metadata;
  Sha256 record;                    ///< digest of RECORD
  std::uint64_t bytes_received = 0; ///< over the network
};

/// The way of one locked file through the places that may have it.
struct Search {
  std::string file;
  Sha256 sha256;
  std::vector<std::string> locations = {};
  std::vector<std::string> answers = {}; ///< of places that do not have it
  bool other_bytes = false;              ///< a place has another file of that name
  std::size_t next_place = 0;            ///< after those that were asked
  std::string project = {};              ///< of the file; set by the first search
};

class PythonIndex {
public:
  /// All must outlive it. `pins`: digests of files that are known; of two metapackages of one
  /// version the known one is read. Not for several threads at once.
  PythonIndex(http::Client& client, const source::Sources& sources,
              const std::map<std::string, Sha256>* pins = nullptr)
      : client_(client), sources_(sources), pins_(pins) {}

  /// Pages of all `projects` and METADATA of those cuda-toolkit releases that `wanted` accepts. A
  /// project that no index has is left out with a note; an index that cannot be reached, or that
  /// has none of the projects, is an error. Where there is no index, find-links give the
  /// candidates. Pre-releases of the metapackage are left out with a note, unless `prereleases`:
  /// the manifest asks for one.
  Result<Catalog> load(const std::vector<std::string>& projects,
                       const std::function<bool(const Version&)>& wanted,
                       const std::stop_token& stop, bool prereleases = false);

  /// Where the bytes of locked files are now, found by file name and sha256: in mirrors, then in
  /// find-links, then on the project's pages of the indexes. Each search goes on from where it
  /// stands to the next place that has the file, with one round of requests per place; `locations`
  /// are then those of that place alone (URLs and local paths), and empty when no place is left.
  /// A place that gives no digest (a folder, a plain folder on a server) is believed: whoever
  /// fetches compares. A place that cannot be read is noted in `answers` and passed over; a mirror
  /// that cannot be read is also told in the result. An error is an interruption.
  Result<std::vector<std::string>> search(std::vector<Search*> searches,
                                          const std::stop_token& stop);
  /// The error of a search that ended: every place that was asked and its answer; of code integrity
  /// when one has other bytes under that name.
  [[nodiscard]] static Error not_found(const Search& search);

  /// Random access to a located wheel: by ranges over http, directly for a path. `size` 0: unknown.
  Result<std::unique_ptr<RandomAccess>> open(const std::string& location, std::uint64_t size,
                                             const std::stop_token& stop);
  /// METADATA and RECORD's digest of a wheel without downloading it.
  Result<RemoteWheel> inspect(const WheelFile& wheel, const std::stop_token& stop);

private:
  using Page = std::optional<std::vector<WheelFile>>; ///< empty: the index has no such project
  enum class Kind { mirror, links, index };
  struct Place {
    const source::Address* address;
    Kind kind;
  };

  Result<void> read_pages(const source::Address& index, const std::vector<std::string>& projects,
                          const std::stop_token& stop);
  Result<std::vector<WheelFile>> links(const source::Address& place, const std::stop_token& stop);
  Result<void> load_links(Catalog& catalog, const std::vector<std::string>& projects,
                          const std::stop_token& stop);
  Result<void> read_releases(Catalog& catalog, const std::function<bool(const Version&)>& wanted,
                             bool prereleases, const std::stop_token& stop);
  Result<void> read_some_releases(Catalog& catalog, std::span<WheelFile> files,
                                  const std::stop_token& stop);
  [[nodiscard]] std::vector<Place> places() const;
  Result<void> search_place(const Place& place, const std::vector<Search*>& searches,
                            const std::stop_token& stop);
  Result<std::vector<WheelFile>> wheels_at(const Place& place, const Search& search,
                                           const std::stop_token& stop);
  static void note_answers(const source::Address& place, const std::vector<WheelFile>& wheels,
                           Search& search);

  http::Client& client_;
  const source::Sources& sources_;
  const std::map<std::string, Sha256>* pins_;
  std::map<std::pair<std::string, std::string>, Page> pages_; ///< by location and project
  std::map<std::string, std::vector<WheelFile>> links_;       ///< find-links pages, by location
};

} // namespace cukit::catalog
