#include "catalog/redist_index.hpp"

#include "base/strings.hpp"
#include "catalog/folder.hpp"
#include "catalog/html_links.hpp"

#include <algorithm>
#include <set>

namespace cukit::catalog {

/// A manifest that a base has, or may have.
struct RedistIndex::Found {
  Version label;
  std::string layout; ///< folder below the base, with a slash at its end, or empty
  std::string place;  ///< URL or path of the manifest
};

namespace {

// The largest real manifest has 59 kB.
constexpr std::uint64_t k_manifest_bytes = 1U << 20U;
// NVIDIA lists 40 of cuda; each is asked for in three layouts where a server lists nothing.
constexpr std::size_t k_labels = 512;
constexpr std::size_t k_at_once = 64; // are in memory together
constexpr const char* k_cuda = "cuda";

std::vector<std::string> layouts(const std::string& product) {
  std::vector<std::string> result{product + "/redist/", product + "/"};
  if (product == k_cuda) {
    result.emplace_back();
  }
  return result;
}

http::Request request(std::string url, std::uint64_t max_bytes) {
  return http::Request{.url = std::move(url), .max_bytes = max_bytes};
}

/// The labels that a page of links (a web server's listing of a folder) shows.
std::vector<Version> labels_of_page(const http::Response& page) {
  std::vector<Version> result;
  if (page.status == 404 || page.content_type.find("html") == std::string::npos) {
    return result;
  }
  for (const auto& link : read_html(page.body).links) {
    const auto url = http::resolve_url(page.final_url, link.href);
    const auto label = redist_label(url ? http::url_file_name(*url) : std::string());
    if (label && std::find(result.begin(), result.end(), *label) == result.end()) {
      result.push_back(*label);
    }
  }
  return result;
}

std::string file_of(const Version& label) {
  return fmt::format("redistrib_{}.json", label.text());
}

bool is_wanted(const RedistWanted& wanted, const Version& label) {
  return !wanted.wants || wanted.wants(label);
}

bool has(const std::vector<RedistManifest>& manifests, const std::string& product,
         const Version& label) {
  return std::any_of(manifests.begin(), manifests.end(), [&](const RedistManifest& manifest) {
    return manifest.product == product && manifest.label == label;
  });
}

} // namespace

std::vector<std::string> RedistIndex::known_labels(const std::string& product) const {
  std::vector<std::string> result;
  const auto prefix = product + "/redist/";
  for (auto it = pins_.lower_bound(prefix); it != pins_.end() && it->first.starts_with(prefix);
       ++it) {
    result.push_back(it->first.substr(prefix.size()));
  }
  return result;
}

Result<std::vector<RedistIndex::Found>>
RedistIndex::labels_in_folder(const source::Address& base, const RedistWanted& wanted) const {
  std::vector<Found> result;
  for (const auto& layout : layouts(wanted.product)) {
    const auto folder = fs::path(base.location) / layout;
    if (!folder_exists(folder)) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
    for (const auto& name : names) {
      const auto label = redist_label(name);
      const bool is_known = label && std::any_of(result.begin(), result.end(),
                                                 [&](const auto& f) { return f.label == *label; });
      if (label && !is_known && is_wanted(wanted, *label)) {
        result.push_back({.label = *label, .layout = layout, .place = (folder / name).string()});
      }
    }
  }
  return result;
}

/// What the server lists, else every label that is known: then only asking tells which it has.
Result<std::vector<RedistIndex::Found>> RedistIndex::labels_on_server(const source::Address& base,
                                                                      const RedistWanted& wanted,
                                                                      const std::stop_token& stop) {
  std::vector<http::Request> requests;
  for (const auto& layout : layouts(wanted.product)) {
    requests.push_back(request(base.location + "/" + layout, limits::k_index_page_bytes));
  }
  const auto pages = client_.get_all(requests, stop);
  std::vector<Found> result;
  const auto add = [&](const Version& label, const std::string& layout) {
    const bool is_known = std::any_of(result.begin(), result.end(), [&](const Found& found) {
      return found.label == label && found.layout == layout;
    });
    if (!is_known && is_wanted(wanted, label)) {
      result.push_back({.label = label,
                        .layout = layout,
                        .place = base.location + "/" + layout + file_of(label)});
    }
  };
  bool is_listed = false;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (!pages[i] && pages[i].error().code == ErrorCode::interrupted) {
      return tl::unexpected<Error>(pages[i].error());
    }
    for (const auto& label : pages[i] ? labels_of_page(*pages[i]) : std::vector<Version>()) {
      is_listed = true;
      add(label, layouts(wanted.product)[i]);
    }
  }
  if (!is_listed) {
    for (const auto& layout : layouts(wanted.product)) {
      for (const auto& name : known_labels(wanted.product)) {
        if (const auto label = redist_label(name)) {
          add(*label, layout);
        }
      }
    }
  }
  return result;
}

/// A known manifest stays known when a source writes its label in another way (13.0.2.0). A release
/// of CUDA is three numbers: a fourth makes no other one.
std::map<std::string, Sha256>::const_iterator RedistIndex::pin_of(const std::string& product,
                                                                  const Version& label) const {
  for (const auto& name : known_labels(product)) {
    const auto known = redist_label(name);
    const bool is_same =
        known && (*known == label || (product == k_cuda && known->same_minor(label) &&
                                      known->part(2) == label.part(2)));
    if (is_same) {
      return pins_.find(product + "/redist/" + name);
    }
  }
  return pins_.end();
}

Result<void> RedistIndex::add(std::string_view bytes, const Found& found,
                              const std::string& product,
                              std::vector<RedistManifest>& manifests) const {
  const auto where = redact_url(found.place);
  const auto digest = sha256_of(bytes);
  const auto key = fmt::format("{}/redist/{}", product, file_of(found.label));
  const auto pin = pin_of(product, found.label);
  if (pin != pins_.end() && pin->second != digest) {
    Error error{.code = ErrorCode::integrity,
                .message = fmt::format("{} has {}, but this cukit knows it with {}", key,
                                       digest.text(), pin->second.text())};
    error.where = where;
    error.hint = "NVIDIA's manifests never change: this one is damaged or was replaced; use "
                 "another source (CUKIT_REDIST_URL)";
    return tl::unexpected<Error>(std::move(error));
  }
  CUKIT_TRY_ASSIGN(auto manifest, parse_redist(bytes, product, found.label, where));
  manifests.push_back(std::move(manifest));
  return {};
}

std::vector<Result<http::Response>> RedistIndex::ask_some(std::span<const Found> found,
                                                          const std::stop_token& stop) {
  std::vector<http::Request> requests;
  for (const auto& one : found) {
    requests.push_back(request(one.place, k_manifest_bytes));
  }
  return client_.get_all(requests, stop);
}

Result<void> RedistIndex::load_from(const source::Address& base, const RedistWanted& wanted,
                                    std::vector<RedistManifest>& manifests,
                                    const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(auto found, base.is_folder() ? labels_in_folder(base, wanted)
                                                : labels_on_server(base, wanted, stop));
  std::erase_if(found, [&](const Found& f) { return has(manifests, wanted.product, f.label); });
  if (found.size() > k_labels) {
    return fail(ErrorCode::source, "{} lists {} manifests of {}, more than {}", base.named(),
                found.size(), wanted.product, k_labels);
  }
  std::vector<Result<http::Response>> answers;
  std::size_t taken = 0;
  std::optional<Error> failed;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& one = found[i];
    if (!base.is_folder() && i % k_at_once == 0) {
      answers = ask_some(std::span(found).subspan(i, std::min(k_at_once, found.size() - i)), stop);
    }
    if (has(manifests, wanted.product, one.label)) {
      continue; // of an earlier layout of this base
    }
    auto* answer = base.is_folder() ? nullptr : &answers[i % k_at_once];
    if (answer == nullptr) {
      CUKIT_TRY_ASSIGN(const auto bytes, read_file(one.place, k_manifest_bytes));
      CUKIT_TRY(add(bytes, one, wanted.product, manifests));
    } else if (!*answer) {
      failed = std::move(answer->error());
      continue;
    } else if ((*answer)->status == 404) {
      continue;
    } else {
      CUKIT_TRY(add((*answer)->body, one, wanted.product, manifests));
    }
    ++taken;
    seen_.try_emplace({base.location, wanted.product}, one.layout);
  }
  if (failed && (taken == 0 || failed->code == ErrorCode::interrupted)) {
    return tl::unexpected<Error>(*std::move(failed));
  }
  return {};
}

Result<RedistCatalog> RedistIndex::load(const std::vector<RedistWanted>& wanted,
                                        const std::stop_token& stop) {
  RedistCatalog result;
  std::vector<std::string> causes;
  for (const auto& one : wanted) {
    for (const auto& base : sources_.redist) {
      const auto loaded = load_from(base, one, result.manifests, stop);
      if (loaded) {
        continue;
      }
      if (loaded.error().code != ErrorCode::source && loaded.error().code != ErrorCode::host) {
        return tl::unexpected<Error>(loaded.error());
      }
      causes.push_back(fmt::format("{}: {}", base.named(), loaded.error().message));
    }
  }
  if (result.manifests.empty() && !causes.empty()) {
    Error error{.code = ErrorCode::source, .message = "no source of redistributables can be read"};
    error.causes = std::move(causes);
    error.hint = "check the network and the proxy variables, or name a mirror or a folder in "
                 "CUKIT_REDIST_URL";
    return tl::unexpected<Error>(std::move(error));
  }
  result.notes = std::move(causes);
  std::sort(result.manifests.begin(), result.manifests.end(),
            [](const RedistManifest& a, const RedistManifest& b) {
              return a.product != b.product ? a.product < b.product : a.label < b.label;
            });
  return result;
}

Result<std::vector<std::string>> RedistIndex::locate(const std::string& path) const {
  const auto place = redist_place(path);
  if (!place) {
    return fail(ErrorCode::source, "`{}` is no path of a redistributable", printable(path));
  }
  std::vector<std::string> locations;
  std::vector<std::string> causes;
  for (const auto& base : sources_.redist) {
    auto order = layouts(place->product);
    const auto seen = seen_.find({base.location, place->product});
    if (seen != seen_.end()) {
      std::stable_partition(order.begin(), order.end(),
                            [&](const auto& layout) { return layout == seen->second; });
    }
    const auto before = locations.size();
    for (const auto& layout : order) {
      const auto location = base.location + "/" + layout + place->below;
      if (!base.is_folder() || is_file(location)) {
        locations.push_back(location);
      }
    }
    if (locations.size() == before) {
      causes.push_back(fmt::format("{} does not have it", base.named()));
    }
  }
  if (locations.empty()) {
    Error error{.code = ErrorCode::source, .message = fmt::format("no source has {}", path)};
    error.causes = std::move(causes);
    error.hint = "name an address or a folder that has it in CUKIT_REDIST_URL";
    return tl::unexpected<Error>(std::move(error));
  }
  return locations;
}

} // namespace cukit::catalog
