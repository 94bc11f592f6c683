// Archives of NVIDIA's redistributables as an offer.
#include "resolve/offer.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

constexpr const char* k_cuda_product = "cuda";

} // namespace

void Offer::add_manifests() {
  for (const auto& manifest : catalog_.manifests) {
    if (manifest.product != k_cuda_product) {
      continue;
    }
    if (knowledge::find_release(*facts_.releases, manifest.label) == nullptr) {
      left_out_.push_back(
          {.version = manifest.label,
           .rule = &rules::k_availability,
           .text = fmt::format("CUDA {} is offered, but this cukit does not know it yet",
                               manifest.label.text())});
      continue;
    }
    release_of(manifest.label).redist = &manifest;
  }
  if (catalog_.redist_was_asked) {
    add_unread_manifests();
  }
}

/// Releases that exist and could serve, but of which no source gave anything.
void Offer::add_unread_manifests() {
  for (const auto& table : *facts_.tables) {
    const bool is_offered = std::any_of(storage_.begin(), storage_.end(), [&](const auto& release) {
      return release->version == table.release;
    });
    const bool was_asked = std::find(redist_minors_.begin(), redist_minors_.end(),
                                     table.release.major_minor()) != redist_minors_.end();
    if (table.source != k_redist || is_offered || !was_asked) {
      continue;
    }
    const bool has_digest =
        facts_.pins->contains(fmt::format("cuda/redist/redistrib_{}.json", table.release.text()));
    left_out_.push_back(
        {.version = table.release,
         .rule = &rules::k_availability,
         .text = fmt::format(
             "CUDA {} has its manifest in none of the sources of redistributables{}",
             table.release.text(), has_digest ? "" : ": manifest not known to this build"),
         .is_unread = true,
         .has_digest = has_digest});
  }
}

const Offered* Offer::offered(const catalog::RedistManifest& manifest,
                              const catalog::RedistComponent& component,
                              const catalog::RedistArchive& archive) const {
  auto& file = files_[&archive];
  if (!file) {
    file = std::make_unique<Offered>(
        Offered{.source = std::string(k_redist),
                .file = std::string(archive.path.name()),
                .path = catalog::redist_path(manifest.product, archive.path),
                .version = component.version,
                .size = archive.size,
                .sha256 = archive.sha256,
                .glibc = {},
                .wheel = nullptr});
  }
  return file.get();
}

Pick Offer::find_archive(const knowledge::Component& component, Platform platform,
                         const OfferedRelease& release) const {
  Pick none;
  const auto& recipe = component.redist;
  if (recipe.names.empty()) {
    none.why_not = fmt::format("NVIDIA's redistributables do not hold {}", component.name);
    return none;
  }
  if (recipe.product == k_cuda_product) {
    if (release.redist == nullptr) {
      none.why_not = fmt::format("the manifest of CUDA {} is in none of the sources",
                                 release_label(release.version).text());
      return none;
    }
    return archive_of(*release.redist, component, platform, release);
  }
  // A product with numbers of its own: what the earlier lock holds, else the newest that has it.
  none.why_not = fmt::format("no manifest of {} has it for CUDA {} on {}", recipe.product,
                             release.version.major(), platform.text());
  std::optional<Pick> newest;
  for (auto manifest = catalog_.manifests.rbegin(); manifest != catalog_.manifests.rend();
       ++manifest) {
    if (manifest->product != recipe.product) {
      continue;
    }
    auto found = archive_of(*manifest, component, platform, release);
    if (found.file == nullptr) {
      continue;
    }
    if (is_locked(component, platform, found.file->file)) {
      return found;
    }
    if (!newest) {
      newest = std::move(found);
    }
  }
  return newest ? *std::move(newest) : none;
}

Pick Offer::archive_of(const catalog::RedistManifest& manifest,
                       const knowledge::Component& component, Platform platform,
                       const OfferedRelease& release) const {
  const auto& recipe = component.redist;
  if (recipe.is_older(release.version) && !recipe.older->within.empty()) {
    const auto* carrier = knowledge::find_component(*facts_.components, recipe.older->within);
    CUKIT_ENSURE(carrier != nullptr && carrier != &component, "a recipe names a component");
    auto found = archive_of(manifest, *carrier, platform, release);
    found.carrier = carrier;
    found.how = fmt::format("part of {}'s archive", carrier->name);
    return found;
  }
  Pick result;
  const auto what =
      fmt::format("{} {}", manifest.product == k_cuda_product ? "CUDA" : manifest.product,
                  manifest.label.text());
  for (const auto& name : recipe.names) {
    const auto entry = manifest.components.find(name);
    if (entry == manifest.components.end()) {
      continue;
    }
    const auto* archive = entry->second.find(platform, release.version);
    if (archive == nullptr) {
      result.state = Pick::State::not_on_platform;
      result.why_not = fmt::format("{} has no {} for {}", what, component.name, platform.text());
      return result;
    }
    result.state = Pick::State::found;
    result.file = offered(manifest, entry->second, *archive);
    result.from = &release;
    result.pinned_by = manifest.path();
    result.pin = manifest.sha256;
    result.how = fmt::format("listed by the manifest of {}", what);
    return result;
  }
  result.why_not = fmt::format("{} has no {} among its archives", what, component.name);
  return result;
}

} // namespace cukit::resolve
