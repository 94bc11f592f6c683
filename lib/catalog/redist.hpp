// NVIDIA's redistributables as their manifests (`redistrib_X.Y.Z.json`) state them. Such a file is
// hostile until it was parsed: nothing of it reaches a path or a URL unchecked.
#pragma once

#include "base/sha256.hpp"
#include "model/platform.hpp"
#include "model/relative_path.hpp"
#include "model/version.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cukit::catalog {

/// One archive of a component.
struct RedistArchive {
  std::optional<Platform> platform; ///< empty: for any (`linux-all`, `source`)
  std::string variant;              ///< "cuda13", "cuda13.1"; empty: the component has none
  RelativePath path;                ///< relative to the manifest's folder; never made up from names
  std::uint64_t size = 0;           ///< bytes, above 0
  Sha256 sha256;
};

struct RedistComponent {
  std::string name; ///< the key: cuda_nvcc. The text `name` in the file changes freely
  Version version;
  std::string licence; ///< "CUDA Toolkit", "CCCL EULA", ...
  std::vector<RedistArchive> archives;

  /// The archive for a platform and a CUDA release: one without variant, else `cuda13.1` before
  /// `cuda13`; nullptr when there is none.
  [[nodiscard]] const RedistArchive* find(Platform platform, const Version& cuda) const;
};

struct RedistManifest {
  std::string product;                               ///< cuda, cudnn, ...
  Version label;                                     ///< 13.0.2, of the file's name
  std::string date;                                  ///< release_date, may be empty
  Sha256 sha256;                                     ///< of the file's bytes
  std::map<std::string, RedistComponent> components; ///< by key

  /// How the file is called in every source: cuda/redist/redistrib_13.0.2.json
  [[nodiscard]] std::string path() const;
};

/// The text of a manifest. Refused (code integrity, with the place inside): duplicate keys, text
/// that is no UTF-8, sizes that are no decimal numbers in strings or need more than 64 bits,
/// digests that are not 64 lower-case digits, paths that are absolute, leave the folder or name a
/// host. Platforms that cukit does not know are passed over. `where` is for messages.
Result<RedistManifest> parse_redist(std::string_view bytes, std::string product, Version label,
                                    const std::string& where);

/// The label of `redistrib_13.0.2.json`; empty for any other name.
std::optional<Version> redist_label(std::string_view file_name);

/// Of cuda/redist/cuda_nvcc/...: cuda, and what follows redist/. Empty when the path has not this
/// form. Locks hold such paths: they say where an archive lies below every base.
struct RedistPlace {
  std::string product;
  std::string below; ///< cuda_nvcc/linux-x86_64/...
};
std::optional<RedistPlace> redist_place(std::string_view path);
/// The path of an archive in that form.
std::string redist_path(const std::string& product, const RelativePath& archive);

} // namespace cukit::catalog
