// A container image as an OCI image layout (image-spec 1.1): a folder that any registry's client
// can push. Equal input gives equal bytes, on every machine and with any number of threads.
#pragma once

#include "image/base_image.hpp"
#include "image/tar_writer.hpp"

#include <map>
#include <optional>

namespace cukit::image {

struct Layer {
  std::string title; ///< "nvcc 13.0.88": what a history and an annotation say of it
  std::vector<Item> items;
};

struct Image {
  Platform platform;
  std::vector<Layer> layers = {}; ///< lowest first, above those of the base
  std::map<std::string, std::string> variables =
      {}; ///< stand instead of the base's of the same name
  std::map<std::string, std::string> labels = {};
  std::string created; ///< RFC 3339; of the configuration alone
  Compression compression = Compression::gzip;
  const BaseImage* base = nullptr;
};

struct WrittenLayer {
  std::string title;
  Packed blob;
};
struct WrittenImage {
  std::vector<WrittenLayer> layers; ///< without the base's
  Sha256 manifest;                  ///< the image's digest
  Sha256 config;
  std::uint64_t bytes = 0; ///< of all blobs, the base's included
};

/// Fills `folder`, which is there and empty. Nothing is synced.
Result<WrittenImage> write_layout(const Image& image, const fs::path& folder, ThreadPool& pool,
                                  const std::stop_token& stop);

} // namespace cukit::image
