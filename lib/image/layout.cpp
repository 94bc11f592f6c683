#include "image/layout.hpp"

#include "base/strings.hpp"

#include <ctime>

namespace cukit::image {

namespace {

using text::Json;

constexpr std::string_view k_title = "org.opencontainers.image.title";

std::string_view media_type(Compression compression) {
  switch (compression) {
  case Compression::none:
    return "application/vnd.oci.image.layer.v1.tar";
  case Compression::gzip:
    return "application/vnd.oci.image.layer.v1.tar+gzip";
  case Compression::zstd:
    break;
  }
  return "application/vnd.oci.image.layer.v1.tar+zstd";
}

Json descriptor(std::string_view type, const Sha256& digest, std::uint64_t size) {
  return Json::object().set("mediaType", type).set("digest", digest.text()).set("size", size);
}

Json map_json(const std::map<std::string, std::string>& values) {
  auto json = Json::object();
  for (const auto& [key, value] : values) {
    json.set(key, value);
  }
  return json;
}

class Writer {
public:
  Writer(const Image& image, const fs::path& folder, ThreadPool& pool, const std::stop_token& stop)
      : image_(image), folder_(folder), blobs_(folder / "blobs/sha256"), pool_(pool), stop_(stop) {}

  Result<WrittenImage> write() {
    CUKIT_TRY(make_directories(blobs_));
    if (image_.base != nullptr) {
      CUKIT_TRY(copy_layers(*image_.base, blobs_, stop_));
    }
    for (const auto& layer : image_.layers) {
      CUKIT_TRY(write_layer(layer));
    }
    const auto config = config_json().dump();
    CUKIT_TRY_ASSIGN(result_.config, write_blob(config));
    const auto manifest = manifest_json(config.size()).dump();
    CUKIT_TRY_ASSIGN(result_.manifest, write_blob(manifest));
    auto of_image =
        descriptor("application/vnd.oci.image.manifest.v1+json", result_.manifest, manifest.size());
    of_image.set(
        "platform",
        Json::object().set("architecture", architecture_of(image_.platform)).set("os", "linux"));
    const auto index = Json::object()
                           .set("schemaVersion", 2)
                           .set("mediaType", "application/vnd.oci.image.index.v1+json")
                           .set("manifests", Json::list().add(of_image));
    CUKIT_TRY(create_file(folder_ / "index.json", index.dump() + "\n"));
    CUKIT_TRY(create_file(folder_ / "oci-layout",
                          Json::object().set("imageLayoutVersion", "1.0.0").dump() + "\n"));
    return std::move(result_);
  }

private:
  Result<void> write_layer(const Layer& layer) {
    const auto unnamed = blobs_ / "layer";
    CUKIT_TRY_ASSIGN(auto file, PackedFile::create(unnamed, image_.compression, pool_));
    CUKIT_TRY(write_tar(file, layer.items, stop_));
    CUKIT_TRY_ASSIGN(const auto packed, file.finish());
    CUKIT_TRY(rename_path(unnamed, blobs_ / packed.digest.hex()));
    result_.bytes += packed.size;
    result_.layers.push_back({.title = layer.title, .blob = packed});
    return {};
  }

  Result<Sha256> write_blob(const std::string& bytes) {
    const auto digest = sha256_of(bytes);
    CUKIT_TRY(create_file(blobs_ / digest.hex(), bytes));
    result_.bytes += bytes.size();
    return digest;
  }

  /// The member of the base's configuration, or nothing.
  [[nodiscard]] const Json* of_base(std::string_view key) const {
    return image_.base == nullptr ? nullptr : image_.base->config.find(key);
  }

  /// What the base says of how a container runs, with the variables and labels of this image.
  [[nodiscard]] Json run_json() const {
    auto json = Json::object();
    std::map<std::string, std::string> labels;
    if (const auto* base = of_base("config"); base != nullptr && base->is(Json::Kind::object)) {
      for (const auto& [key, value] : base->members()) {
        if (key == "Labels") {
          for (const auto& [name, label] : value.members()) {
            labels[name] = label.text();
          }
        } else if (key != "Env") {
          json.set(key, value);
        }
      }
    }
    auto variables = Json::list();
    for (const auto& [name, value] : image_.variables) {
      variables.add(fmt::format("{}={}", name, value));
    }
    for (const auto& [name, value] : image_.labels) {
      labels[name] = value;
    }
    return json.set("Env", variables).set("Labels", map_json(labels));
  }

  [[nodiscard]] Json config_json() const {
    auto ids = Json::list();
    auto history = Json::list();
    if (const auto* rootfs = of_base("rootfs")) {
      for (const auto& id : rootfs->find("diff_ids")->items()) {
        ids.add(id);
      }
    }
    // a history with other steps than layers would be taken for a damaged one
    if (const auto* before = of_base("history");
        before != nullptr && before->is(Json::Kind::list)) {
      for (const auto& step : before->items()) {
        history.add(step);
      }
    } else if (image_.base != nullptr) {
      for (std::size_t i = 0; i < image_.base->layers.size(); ++i) {
        history.add(Json::object().set("created_by", "base image"));
      }
    }
    for (const auto& layer : result_.layers) {
      ids.add(layer.blob.content.text());
      history.add(Json::object().set("created_by", "cukit export oci: " + layer.title));
    }
    return Json::object()
        .set("created", image_.created)
        .set("architecture", architecture_of(image_.platform))
        .set("os", "linux")
        .set("config", run_json())
        .set("rootfs", Json::object().set("type", "layers").set("diff_ids", ids))
        .set("history", history);
  }

  [[nodiscard]] Json manifest_json(std::uint64_t config_size) {
    auto layers = Json::list();
    if (image_.base != nullptr) {
      for (const auto& layer : image_.base->layers) {
        layers.add(descriptor(layer.media_type, layer.digest, layer.size));
        result_.bytes += layer.size;
      }
    }
    for (const auto& layer : result_.layers) {
      layers.add(descriptor(media_type(image_.compression), layer.blob.digest, layer.blob.size)
                     .set("annotations", Json::object().set(std::string(k_title), layer.title)));
    }
    return Json::object()
        .set("schemaVersion", 2)
        .set("mediaType", "application/vnd.oci.image.manifest.v1+json")
        .set("config",
             descriptor("application/vnd.oci.image.config.v1+json", result_.config, config_size))
        .set("layers", layers)
        .set("annotations", map_json(image_.labels));
  }

  const Image& image_;
  const fs::path& folder_;
  fs::path blobs_;
  ThreadPool& pool_;
  const std::stop_token& stop_;
  WrittenImage result_ = {};
};

} // namespace

Result<WrittenImage> write_layout(const Image& image, const fs::path& folder, ThreadPool& pool,
                                  const std::stop_token& stop) {
  return Writer(image, folder, pool, stop).write();
}

} // namespace cukit::image
