#include "catalog/redist.hpp"

#include "base/number.hpp"
#include "base/strings.hpp"
#include "text/json.hpp"

#include <algorithm>

namespace cukit::catalog {

namespace {

using text::Json;

constexpr std::string_view k_prefix = "redistrib_";
constexpr std::string_view k_suffix = ".json";
constexpr std::string_view k_variant_suffix = "_variant";

/// Everything a name may hold that ends up in a path or a URL.
bool is_plain(std::string_view text, std::string_view more = "") {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || more.find(c) != std::string_view::npos;
  });
}

/// Reads one manifest; `at` is the way from the root to what is being read.
class Reader {
public:
  explicit Reader(const std::string& where) : where_(where) {}

  template <typename... Args>
  tl::unexpected<Error> refuse(const std::string& at, fmt::format_string<Args...> text,
                               Args&&... args) const {
    Error error{.code = ErrorCode::integrity,
                .message = fmt::format("this is no manifest of redistributables: {} {}",
                                       printable(at.substr(0, 200)),
                                       fmt::format(text, std::forward<Args>(args)...))};
    error.where = where_;
    error.hint = "the file is damaged, or no manifest of NVIDIA's: use another source "
                 "(CUKIT_REDIST_URL)";
    return tl::unexpected<Error>(std::move(error));
  }

  Result<RedistComponent> component(const std::string& key, const Json& value) const {
    RedistComponent result;
    if (!is_plain(key)) {
      return refuse("`" + key + "`", "is no name of a component");
    }
    result.name = key;
    result.licence = std::string(value.text_of("license"));
    const auto version = Version::parse(value.text_of("version"));
    if (!version) {
      return refuse(key + ".version", "is no version");
    }
    result.version = *version;
    for (const auto& [name, entry] : value.members()) {
      if (name.ends_with(k_variant_suffix)) {
        if (!entry.is(Json::Kind::list)) {
          return refuse(key + "." + name, "is no list");
        }
      } else if (const auto platform = known_platform(name)) {
        CUKIT_TRY(add_platform(key + "." + name, entry, *platform, result.archives));
      }
    }
    return result;
  }

private:
  /// Outer empty: not one that cukit knows. Inner empty: any.
  static std::optional<std::optional<Platform>> known_platform(const std::string& name) {
    if (name == "source" || name == "linux-all") {
      return std::optional<Platform>();
    }
    for (const Platform platform : Platform::all()) {
      if (platform.text() == name) {
        return platform;
      }
    }
    return std::nullopt;
  }

  Result<void> add_platform(const std::string& at, const Json& value,
                            std::optional<Platform> platform,
                            std::vector<RedistArchive>& archives) const {
    if (!value.is(Json::Kind::object)) {
      return refuse(at, "is no map");
    }
    if (value.find("relative_path") != nullptr) {
      CUKIT_TRY_ASSIGN(auto leaf, archive(at, value));
      leaf.platform = platform;
      archives.push_back(std::move(leaf));
      return {};
    }
    for (const auto& [variant, entry] : value.members()) {
      if (!is_plain(variant) || !entry.is(Json::Kind::object)) {
        return refuse(at, "is neither an archive nor a map of variants");
      }
      CUKIT_TRY_ASSIGN(auto leaf, archive(at + "." + variant, entry));
      leaf.platform = platform;
      leaf.variant = variant;
      archives.push_back(std::move(leaf));
    }
    return {};
  }

  Result<RedistArchive> archive(const std::string& at, const Json& value) const {
    RedistArchive result;
    const auto path = value.text_of("relative_path");
    auto parsed = RelativePath::parse(path);
    if (!parsed || parsed->empty() || !is_plain(path, "/+~")) {
      return refuse(at + ".relative_path", "is no path below the manifest: `{}`",
                    printable(path.substr(0, 200)));
    }
    result.path = *std::move(parsed);
    // In every manifest so far the size is text; a number would have lost digits above 2^53 in
    // other people's tools already.
    result.size = whole_number(value.text_of("size")).value_or(0);
    if (result.size == 0) {
      return refuse(at + ".size", "is no number of bytes in a string");
    }
    const auto digest = value.text_of("sha256");
    const auto sha256 = Sha256::parse(digest);
    if (!sha256 || digest.size() != 64) {
      return refuse(at + ".sha256", "is no sha256 of 64 lower-case digits");
    }
    result.sha256 = *sha256;
    return result;
  }

  const std::string& where_;
};

} // namespace

const RedistArchive* RedistComponent::find(Platform platform, const Version& cuda) const {
  const RedistArchive* best = nullptr;
  int best_rank = 0;
  for (const auto& archive : archives) {
    if (archive.platform && *archive.platform != platform) {
      continue;
    }
    int rank = 0;
    if (archive.variant.empty()) {
      rank = 3;
    } else if (archive.variant == "cuda" + cuda.major_minor()) {
      rank = 2;
    } else if (archive.variant == fmt::format("cuda{}", cuda.major())) {
      rank = 1;
    }
    if (rank > best_rank) {
      best = &archive;
      best_rank = rank;
    }
  }
  return best;
}

std::string RedistManifest::path() const {
  return fmt::format("{}/redist/{}{}{}", product, k_prefix, label.text(), k_suffix);
}

std::optional<Version> redist_label(std::string_view file_name) {
  if (!file_name.starts_with(k_prefix) || !file_name.ends_with(k_suffix) ||
      file_name.size() <= k_prefix.size() + k_suffix.size()) {
    return std::nullopt;
  }
  file_name.remove_prefix(k_prefix.size());
  file_name.remove_suffix(k_suffix.size());
  auto version = Version::parse(file_name);
  // One label has one spelling, since it becomes a file name again; it is a row of numbers, so that
  // none is a variant of another.
  const bool is_plain = file_name.find_first_not_of("0123456789.") == std::string_view::npos;
  return version && is_plain && version->text() == file_name ? std::optional(*std::move(version))
                                                             : std::nullopt;
}

std::optional<RedistPlace> redist_place(std::string_view path) {
  constexpr std::string_view middle = "/redist/";
  const auto slash = path.find('/');
  if (slash == std::string_view::npos || !path.substr(slash).starts_with(middle) ||
      !RelativePath::parse(path) || !is_plain(path, "/+~")) {
    return std::nullopt;
  }
  return RedistPlace{.product = std::string(path.substr(0, slash)),
                     .below = std::string(path.substr(slash + middle.size()))};
}

std::string redist_path(const std::string& product, const RelativePath& archive) {
  return product + "/redist/" + archive.text();
}

Result<RedistManifest> parse_redist(std::string_view bytes, std::string product, Version label,
                                    const std::string& where) {
  const Reader reader(where);
  const auto json = Json::parse(bytes, where);
  if (!json) {
    return reader.refuse("the text", "cannot be read: {}", json.error().message);
  }
  if (!json->is(Json::Kind::object)) {
    return reader.refuse("the text", "is no map");
  }
  RedistManifest result{.product = std::move(product),
                        .label = std::move(label),
                        .date = std::string(json->text_of("release_date")),
                        .sha256 = sha256_of(bytes),
                        .components = {}};
  for (const auto& [key, value] : json->members()) {
    if (value.is(Json::Kind::object)) {
      CUKIT_TRY_ASSIGN(auto component, reader.component(key, value));
      result.components.emplace(key, std::move(component));
    } else if (!value.is(Json::Kind::string)) {
      return reader.refuse("`" + key + "`", "is neither text nor a component");
    }
  }
  if (result.components.empty()) {
    return reader.refuse("the text", "names no component");
  }
  return result;
}

} // namespace cukit::catalog
