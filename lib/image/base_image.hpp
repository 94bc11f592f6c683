// An image that another one is put on, read from an OCI image layout that others made: every blob
// is taken by its digest, and what does not fit together is refused before anything is written.
#pragma once

#include "base/sha256.hpp"
#include "model/platform.hpp"
#include "text/json.hpp"

#include <stop_token>
#include <vector>

namespace cukit::image {

struct BaseLayer {
  std::string media_type;
  Sha256 digest;
  std::uint64_t size = 0;
};

struct BaseImage {
  fs::path folder;
  std::vector<BaseLayer> layers;
  text::Json config; ///< whole, as the layout has it
  Sha256 digest;     ///< of its manifest
};

/// linux/amd64 or linux/arm64: what an image's configuration calls a platform.
std::string_view architecture_of(Platform platform);

/// The layout's only image for that platform. Errors are of code integrity, or of code usage where
/// the folder is no layout or has no such image.
Result<BaseImage> read_base(const fs::path& folder, Platform platform);

/// Copies the layers' blobs to `blobs` (a blobs/sha256 folder) and compares their digests
/// meanwhile.
Result<void> copy_layers(const BaseImage& base, const fs::path& blobs, const std::stop_token& stop);

} // namespace cukit::image
