#include "image/root.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "image/layer.hpp"
#include "model/platform.hpp"
#include "model/relative_path.hpp"
#include "text/json.hpp"

#include <algorithm>

namespace cukit::image {

namespace {

constexpr std::uint64_t k_json_bytes = 16U << 20U;

/// A saved image may hold links; none of them leads us out of it. A pipe would be waited for.
Result<void> check_inside(const fs::path& layout, const fs::path& path) {
  std::error_code error;
  const auto real = fs::canonical(path, error);
  const auto base = error ? fs::path() : fs::canonical(layout, error);
  if (error || !real.string().starts_with(base.string() + "/")) {
    return fail(ErrorCode::integrity, "the image has no {} of its own", path.filename().string());
  }
  if (!fs::is_regular_file(real, error)) {
    return fail(ErrorCode::integrity, "{} of the image is no file", path.filename().string());
  }
  return {};
}

Result<text::Json> read_json(const fs::path& layout, const fs::path& path) {
  CUKIT_TRY(check_inside(layout, path));
  CUKIT_TRY_ASSIGN(const auto bytes, read_file(path, k_json_bytes));
  return text::Json::parse(bytes, path.filename().string());
}

/// sha256:HEX -> blobs/sha256/HEX; anything that is no digest leads nowhere.
Result<fs::path> blob(const fs::path& layout, std::string_view digest) {
  const auto hex = digest.substr(std::min(digest.find(':') + 1, digest.size()));
  if (!digest.starts_with("sha256:") || hex.size() != 64 ||
      hex.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return fail(ErrorCode::integrity, "`{}` is no digest", printable(digest.substr(0, 100)));
  }
  return layout / "blobs/sha256" / hex;
}

struct Parts {
  fs::path config;
  std::vector<fs::path> layers;
};

Result<Parts> parts_of_manifest(const fs::path& layout, const text::Json& manifest) {
  Parts parts;
  const auto* config = manifest.find("config");
  const auto* layers = manifest.find("layers");
  if (config == nullptr || layers == nullptr) {
    return fail(ErrorCode::integrity, "the image's manifest names no config and layers");
  }
  CUKIT_TRY_ASSIGN(parts.config, blob(layout, config->text_of("digest")));
  for (const auto& layer : layers->items()) {
    CUKIT_TRY_ASSIGN(auto path, blob(layout, layer.text_of("digest")));
    parts.layers.push_back(std::move(path));
  }
  return parts;
}

/// index.json, or an index inside an index: the manifest for this machine, else the first.
Result<Parts> parts_of_index(const fs::path& layout, const text::Json& index, int depth) {
  if (index.find("layers") != nullptr) {
    return parts_of_manifest(layout, index);
  }
  const auto* manifests = index.find("manifests");
  if (depth > 4 || manifests == nullptr || manifests->items().empty()) {
    return fail(ErrorCode::integrity, "the image's index names no manifest");
  }
  const auto* chosen = &manifests->items().front();
  const std::string_view wanted = Platform::host().machine() == "x86_64" ? "amd64" : "arm64";
  for (const auto& one : manifests->items()) {
    const auto* platform = one.find("platform");
    if (platform != nullptr && platform->text_of("architecture") == wanted) {
      chosen = &one;
      break;
    }
  }
  CUKIT_TRY_ASSIGN(const auto path, blob(layout, chosen->text_of("digest")));
  CUKIT_TRY_ASSIGN(const auto inner, read_json(layout, path));
  return parts_of_index(layout, inner, depth + 1);
}

/// manifest.json of older `docker save`: paths inside the archive.
Result<Parts> parts_of_saved(const fs::path& layout, const text::Json& manifest) {
  Parts parts;
  const auto inside = [&](std::string_view name) -> Result<fs::path> {
    CUKIT_TRY_ASSIGN(const auto path, RelativePath::parse(name));
    return layout / path.text();
  };
  if (manifest.items().empty()) {
    return fail(ErrorCode::integrity, "manifest.json names no image");
  }
  CUKIT_TRY_ASSIGN(parts.config, inside(manifest.items().front().text_of("Config")));
  const auto* layers = manifest.items().front().find("Layers");
  for (const auto& layer : layers == nullptr ? std::vector<text::Json>() : layers->items()) {
    CUKIT_TRY_ASSIGN(auto path, inside(layer.text()));
    parts.layers.push_back(std::move(path));
  }
  return parts;
}

Result<Parts> find_parts(const fs::path& layout) {
  if (path_exists(layout / "index.json")) {
    CUKIT_TRY_ASSIGN(const auto index, read_json(layout, layout / "index.json"));
    return parts_of_index(layout, index, 0);
  }
  CUKIT_TRY_ASSIGN(const auto manifest, read_json(layout, layout / "manifest.json"));
  return parts_of_saved(layout, manifest);
}

Environment environment_of(const fs::path& layout, const fs::path& config) {
  Environment environment;
  environment.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  const auto json = read_json(layout, config);
  const auto* inner = json ? json->find("config") : nullptr;
  const auto* list = inner == nullptr ? nullptr : inner->find("Env");
  for (const auto& item : list == nullptr ? std::vector<text::Json>() : list->items()) {
    const auto equals = item.text().find('=');
    if (equals != std::string::npos && equals > 0) {
      environment.set(item.text().substr(0, equals), item.text().substr(equals + 1));
    }
  }
  return environment;
}

} // namespace

bool is_image(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) || (fs::is_regular_file(path / "oci-layout", error) &&
                                              fs::is_regular_file(path / "index.json", error));
}

Result<Root> open_image(const fs::path& path, const fs::path& scratch, const IsWanted& is_wanted) {
  CUKIT_TRY_ASSIGN(auto folder, HeldDirectory::create(scratch, temporary::k_image));
  fs::path layout = path;
  std::error_code error;
  LayerBudget outer;
  if (fs::is_regular_file(path, error)) {
    layout = folder.path() / "layout";
    CUKIT_TRY(make_directories(layout));
    CUKIT_TRY(apply_layer(
        path, layout, [](std::string_view, std::uint64_t) { return true; }, outer));
    if (outer.passed_over > 0) {
      return fail(ErrorCode::integrity, "{} unpacks to far more than any image of its size",
                  printable(path.string()));
    }
  }
  Root image{.folder = std::move(folder), .environment = {}, .notes = {}};
  CUKIT_TRY(make_directories(image.root()));
  CUKIT_TRY_ASSIGN(const auto parts, find_parts(layout));
  CUKIT_TRY(check_inside(layout, parts.config));
  if (parts.layers.size() > limits::k_image_layers) {
    return fail(ErrorCode::integrity, "the image names {} layers, more than {}",
                parts.layers.size(), limits::k_image_layers);
  }
  LayerBudget budget;
  for (const auto& layer : parts.layers) {
    CUKIT_TRY(check_inside(layout, layer));
    CUKIT_TRY(apply_layer(layer, image.root(), is_wanted, budget));
  }
  if (budget.passed_over > 0) {
    image.notes.push_back(fmt::format("the image holds more to look at than its size allows: {} of "
                                      "its files were not read",
                                      budget.passed_over));
  }
  image.environment = environment_of(layout, parts.config);
  return image;
}

} // namespace cukit::image
