#include "image/base_image.hpp"

#include "base/limits.hpp"
#include "base/random_access.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>

namespace cukit::image {

namespace {

using text::Json;

constexpr std::uint64_t k_document_bytes = 8U << 20U; ///< of a manifest, an index, a configuration
constexpr int k_index_depth = 4;
constexpr std::size_t k_copy_bytes = 1U << 20U;

constexpr std::array<std::string_view, 2> k_index_types = {
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr std::array<std::string_view, 2> k_manifest_types = {
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json"};
/// Docker's own names, which readers of the others take for these.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> k_layer_types = {{
    {"application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar"},
    {"application/vnd.oci.image.layer.v1.tar+gzip", "application/vnd.oci.image.layer.v1.tar+gzip"},
    {"application/vnd.oci.image.layer.v1.tar+zstd", "application/vnd.oci.image.layer.v1.tar+zstd"},
    {"application/vnd.docker.image.rootfs.diff.tar", "application/vnd.oci.image.layer.v1.tar"},
    {"application/vnd.docker.image.rootfs.diff.tar.gzip",
     "application/vnd.oci.image.layer.v1.tar+gzip"},
}};

bool is_one_of(const std::array<std::string_view, 2>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Reader {
public:
  Reader(const fs::path& folder, Platform platform) : folder_(folder), platform_(platform) {}

  Result<BaseImage> read() {
    CUKIT_TRY_ASSIGN(const auto mark, document(folder_ / "oci-layout"));
    if (mark.text_of("imageLayoutVersion") != "1.0.0") {
      return refused("its oci-layout file does not say version 1.0.0");
    }
    CUKIT_TRY_ASSIGN(const auto index, document(folder_ / "index.json"));
    CUKIT_TRY(collect(index, 1));
    if (found_.empty()) {
      return no_image("it has no image for linux/" + std::string(architecture_of(platform_)));
    }
    if (found_.size() > 1) {
      return no_image(fmt::format("it has {} images for linux/{}, and one is needed", found_.size(),
                                  architecture_of(platform_)));
    }
    return std::move(found_.front());
  }

private:
  struct Descriptor {
    std::string media_type;
    Sha256 digest;
    std::uint64_t size = 0;
  };

  [[nodiscard]] tl::unexpected<Error> refused(std::string why) const {
    return tl::unexpected<Error>(Error{.code = ErrorCode::integrity,
                                       .message = "the base image is damaged: " + std::move(why),
                                       .where = folder_.string(),
                                       .hint = "copy it again: `skopeo copy ... oci:DIR`"});
  }
  [[nodiscard]] tl::unexpected<Error> no_image(std::string why) const {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "the base cannot be used: " + std::move(why),
              .where = folder_.string(),
              .hint = "--base takes an OCI image layout with one image for the platform"});
  }

  Result<Json> document(const fs::path& path) const {
    if (!path_exists(path)) {
      return no_image(path.filename().string() + " is not there, so it is no OCI image layout");
    }
    CUKIT_TRY_ASSIGN(const auto bytes, read_file(path, k_document_bytes));
    auto json = Json::parse(bytes, path.string());
    return json ? std::move(json) : refused(json.error().message);
  }

  Result<Descriptor> descriptor(const Json& json) const {
    const auto digest = Sha256::parse(json.text_of("digest"));
    const auto* size = json.find("size");
    if (!digest || !json.text_of("digest").starts_with("sha256:")) {
      return refused(fmt::format("`{}` is no sha256 digest", printable(json.text_of("digest"))));
    }
    if (size == nullptr || !size->is(Json::Kind::integer) || size->integer() < 0) {
      return refused(fmt::format("the size of {} is no number", digest->text()));
    }
    return Descriptor{.media_type = std::string(json.text_of("mediaType")),
                      .digest = *digest,
                      .size = static_cast<std::uint64_t>(size->integer())};
  }

  Result<Json> blob(const Descriptor& wanted) const {
    const auto path = folder_ / "blobs/sha256" / wanted.digest.hex();
    if (wanted.size > k_document_bytes) {
      return refused(fmt::format("{} has {} bytes", wanted.digest.text(), wanted.size));
    }
    const auto bytes = read_file(path, k_document_bytes);
    if (!bytes) {
      return refused(bytes.error().message);
    }
    if (bytes->size() != wanted.size || sha256_of(*bytes) != wanted.digest) {
      return refused(fmt::format("the bytes of {} are others", wanted.digest.text()));
    }
    auto json = Json::parse(*bytes, path.string());
    return json ? std::move(json) : refused(json.error().message);
  }

  /// Whether an index says that it is for another platform; a manifest without one may be any.
  [[nodiscard]] bool is_foreign(const Json& json) const {
    const auto* said = json.find("platform");
    return said != nullptr && (said->text_of("os") != "linux" ||
                               said->text_of("architecture") != architecture_of(platform_));
  }

  Result<void> collect(const Json& index, int depth) {
    const auto* manifests = index.find("manifests");
    if (depth > k_index_depth || manifests == nullptr || !manifests->is(Json::Kind::list)) {
      return refused("its index holds no list of manifests");
    }
    for (const auto& one : manifests->items()) {
      CUKIT_TRY_ASSIGN(const auto wanted, descriptor(one));
      if (is_foreign(one)) {
        continue;
      }
      if (is_one_of(k_index_types, wanted.media_type)) {
        CUKIT_TRY_ASSIGN(const auto inner, blob(wanted));
        CUKIT_TRY(collect(inner, depth + 1));
      } else if (is_one_of(k_manifest_types, wanted.media_type)) {
        CUKIT_TRY(add(wanted));
      }
      if (found_.size() > limits::k_image_layers) {
        return refused("it has too many images");
      }
    }
    return {};
  }

  Result<void> add(const Descriptor& wanted) {
    const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const BaseImage& image) {
      return image.digest == wanted.digest;
    });
    if (is_known) { // two names of one image
      return {};
    }
    BaseImage image{.folder = folder_, .layers = {}, .config = {}, .digest = wanted.digest};
    CUKIT_TRY_ASSIGN(const auto manifest, blob(wanted));
    const auto* config = manifest.find("config");
    const auto* layers = manifest.find("layers");
    if (config == nullptr || layers == nullptr || !layers->is(Json::Kind::list) ||
        layers->items().size() > limits::k_image_layers) {
      return refused(fmt::format("{} is no manifest of an image", wanted.digest.text()));
    }
    CUKIT_TRY_ASSIGN(const auto of_config, descriptor(*config));
    CUKIT_TRY_ASSIGN(image.config, blob(of_config));
    if (image.config.text_of("os") != "linux" ||
        image.config.text_of("architecture") != architecture_of(platform_)) {
      return {};
    }
    for (const auto& one : layers->items()) {
      CUKIT_TRY_ASSIGN(auto layer, layer_of(one));
      image.layers.push_back(std::move(layer));
    }
    CUKIT_TRY(check_config(image));
    found_.push_back(std::move(image));
    return {};
  }

  [[nodiscard]] Result<BaseLayer> layer_of(const Json& json) const {
    CUKIT_TRY_ASSIGN(const auto wanted, descriptor(json));
    const auto known = std::find_if(k_layer_types.begin(), k_layer_types.end(),
                                    [&](const auto& t) { return t.first == wanted.media_type; });
    if (known == k_layer_types.end()) {
      return no_image(fmt::format("a layer is of the kind {}", printable(wanted.media_type)));
    }
    const auto path = folder_ / "blobs/sha256" / wanted.digest.hex();
    struct ::stat found = {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) ||
        static_cast<std::uint64_t>(found.st_size) != wanted.size) {
      return refused(fmt::format("the layer {} is not there, or not of {} bytes",
                                 wanted.digest.text(), wanted.size));
    }
    return BaseLayer{
        .media_type = std::string(known->second), .digest = wanted.digest, .size = wanted.size};
  }

  [[nodiscard]] Result<void> check_config(const BaseImage& image) const {
    const auto* rootfs = image.config.find("rootfs");
    const auto* ids = rootfs == nullptr ? nullptr : rootfs->find("diff_ids");
    if (ids == nullptr || !ids->is(Json::Kind::list) ||
        ids->items().size() != image.layers.size()) {
      return refused("its configuration does not name each of its layers");
    }
    for (const auto& id : ids->items()) {
      if (!id.is(Json::Kind::string) || !Sha256::parse(id.text())) {
        return refused("its configuration names a layer by what is no digest");
      }
    }
    const auto* config = image.config.find("config");
    const auto* variables = config == nullptr ? nullptr : config->find("Env");
    const bool is_null = variables == nullptr || variables->is(Json::Kind::null);
    if (!is_null && (!variables->is(Json::Kind::list) ||
                     std::any_of(variables->items().begin(), variables->items().end(),
                                 [](const Json& one) { return !one.is(Json::Kind::string); }))) {
      return refused("its variables are no list of texts");
    }
    return {};
  }

  const fs::path& folder_;
  Platform platform_;
  std::vector<BaseImage> found_ = {};
};

} // namespace

std::string_view architecture_of(Platform platform) {
  return platform.machine() == "x86_64" ? "amd64" : "arm64";
}

Result<BaseImage> read_base(const fs::path& folder, Platform platform) {
  return Reader(folder, platform).read();
}

Result<void> copy_layers(const BaseImage& base, const fs::path& blobs,
                         const std::stop_token& stop) {
  for (const auto& layer : base.layers) {
    const auto to = blobs / layer.digest.hex();
    if (path_exists(to)) {
      continue; // one layer twice
    }
    CUKIT_TRY_ASSIGN(const auto from,
                     open_local_file(base.folder / "blobs/sha256" / layer.digest.hex()));
    CUKIT_TRY_ASSIGN(auto file, open_file(to, O_WRONLY | O_CREAT | O_EXCL));
    Sha256Stream digest;
    std::string buffer(k_copy_bytes, '\0');
    for (std::uint64_t at = 0; at < from->size();) {
      if (stop.stop_requested()) {
        return fail(ErrorCode::interrupted, "interrupted while the base image was copied");
      }
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), from->size() - at));
      CUKIT_TRY(
          from->read_at(at, std::span(reinterpret_cast<std::uint8_t*>(buffer.data()), count)));
      const auto piece = std::string_view(buffer).substr(0, count);
      digest.update(piece);
      CUKIT_TRY(write_all(file.get(), piece));
      at += count;
    }
    CUKIT_TRY(file.close());
    if (digest.finish() != layer.digest) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::integrity,
                .message = fmt::format("the base image is damaged: the bytes of the layer {} are "
                                       "others",
                                       layer.digest.text()),
                .where = base.folder.string(),
                .hint = "copy it again: `skopeo copy ... oci:DIR`"});
    }
  }
  return {};
}

} // namespace cukit::image
