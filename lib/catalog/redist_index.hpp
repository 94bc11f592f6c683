// Where NVIDIA's redistributables are: bases in order, each an address or a folder. Below a base a
// product lies as <product>/redist/ (as on NVIDIA's own host and in a mirror made by cukit), as
// <product>/, or, for the product cuda alone, in the base itself. Manifests are enough to make a
// lock from; archives lie relative to their manifest.
#pragma once

#include "catalog/redist.hpp"
#include "http/client.hpp"
#include "source/source.hpp"

#include <functional>
#include <span>

namespace cukit::catalog {

/// A product and which of its releases are wanted.
struct RedistWanted {
  std::string product;
  std::function<bool(const Version& label)> wants; ///< empty: all
};

struct RedistCatalog {
  std::vector<RedistManifest> manifests; ///< by product, then label
  std::vector<std::string> notes;        ///< bases that could not be read, and why
};

class RedistIndex {
public:
  /// All three must outlive it. `pins`: digests of manifests that are known, by path
  /// (cuda/redist/redistrib_13.0.2.json); they also say which labels exist where no source lists
  /// them. Not for several threads at once.
  RedistIndex(http::Client& client, const source::Sources& sources,
              const std::map<std::string, Sha256>& pins)
      : client_(client), sources_(sources), pins_(pins) {}

  /// The manifests of all wanted products and labels that any base has; the first base that has a
  /// label gives it. A manifest whose digest is known to be another is an error of code integrity
  /// that names both. No base that can be read is an error of code source.
  Result<RedistCatalog> load(const std::vector<RedistWanted>& wanted, const std::stop_token& stop);

  /// Where a file may be now, by its path (cuda/redist/cuda_nvcc/...): URLs and local paths of
  /// every base in order. Nobody is asked and nothing is read: whether a server has the file, and
  /// whether its bytes are the locked ones, is seen when it is fetched; of folders only those count
  /// that have a file of that name. None: an error that names all bases.
  [[nodiscard]] Result<std::vector<std::string>> locate(const std::string& path) const;

private:
  struct Layout;
  struct Found;

  Result<std::vector<Found>> labels_in_folder(const source::Address& base,
                                              const RedistWanted& wanted) const;
  Result<std::vector<Found>> labels_on_server(const source::Address& base,
                                              const RedistWanted& wanted,
                                              const std::stop_token& stop);
  Result<void> load_from(const source::Address& base, const RedistWanted& wanted,
                         std::vector<RedistManifest>& manifests, const std::stop_token& stop);
  Result<void> add(std::string_view bytes, const Found& found, const std::string& product,
                   std::vector<RedistManifest>& manifests) const;
  std::vector<Result<http::Response>> ask_some(std::span<const Found> found,
                                               const std::stop_token& stop);
  [[nodiscard]] std::map<std::string, Sha256>::const_iterator pin_of(const std::string& product,
                                                                     const Version& label) const;
  [[nodiscard]] std::vector<std::string> known_labels(const std::string& product) const;

  http::Client& client_;
  const source::Sources& sources_;
  const std::map<std::string, Sha256>& pins_;
  /// The layout that a base answered with, by location and product: asked first when archives are
  /// located.
  std::map<std::pair<std::string, std::string>, std::string> seen_;
};

} // namespace cukit::catalog
