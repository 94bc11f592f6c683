#include "resolve/again.hpp"

#include "lock/placement.hpp"
#include "resolve/compose.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

constexpr const char* k_cuda = "cuda";

/// The metapackages and manifests that the lock names, offering what it holds.
class LockedOffer {
public:
  /// `cccl`: the release whose CCCL the lock holds.
  LockedOffer(const lock::Lock& lock, const Facts& facts, const Version& cccl)
      : lock_(lock), facts_(facts), cccl_(cccl) {}

  Result<catalog::Catalog> run() {
    CUKIT_TRY(read_pins());
    for (const auto& platform : lock_.platforms) {
      for (const auto& artifact : platform.artifacts) {
        CUKIT_TRY(artifact.source == k_redist ? add_archive(platform.platform, artifact)
                                              : add_wheel(artifact));
      }
    }
    for (auto& [version, release] : releases_) {
      add_requirements(release);
      catalog_.releases.push_back(std::move(release.meta));
    }
    catalog_.redist_was_asked = !manifests_.empty();
    for (auto& [path, manifest] : manifests_) {
      catalog_.manifests.push_back(std::move(manifest));
    }
    return std::move(catalog_);
  }

private:
  struct Release {
    catalog::MetaRelease meta;
    std::map<std::string, std::set<Version>> versions; ///< by project
  };

  Result<void> read_pins() {
    for (const auto& [name, digest] : lock_.pins) {
      if (const auto wheel = catalog::parse_wheel_name(name);
          wheel && wheel->project == k_toolkit_project) {
        auto& release = releases_[release_label(wheel->version)];
        release.meta.version = wheel->version;
        release.meta.file = *wheel;
        release.meta.file.sha256 = digest;
        catalog_.projects[wheel->project].push_back(release.meta.file);
        continue;
      }
      const auto place = catalog::redist_place(name);
      const auto label = place ? catalog::redist_label(place->below) : std::nullopt;
      if (!label) {
        return fail(ErrorCode::integrity, "the pin {} is neither a metapackage nor a manifest",
                    name);
      }
      auto& manifest = manifests_[name];
      manifest.product = place->product;
      manifest.label = *label;
      manifest.sha256 = digest;
    }
    return {};
  }

  /// Of which release the artifact is. Parts that may be a newer one's have its minor in their own
  /// version; a ptxas beside its nvcc is always a newer one's; all else is the lock's release's.
  [[nodiscard]] bool is_of(const lock::Artifact& artifact, const Version& release) const {
    if (artifact.component == k_nvcc && lock::takes_ptxas(artifact.take)) {
      return artifact.version.same_minor(release) && release > lock_.release;
    }
    if (artifact.component == k_cccl) {
      return release == cccl_;
    }
    const auto* component = knowledge::find_component(*facts_.components, artifact.component);
    const bool may_be_newer = component != nullptr && component->follows == "binutils";
    const bool is_newer = may_be_newer && !artifact.version.same_minor(lock_.release) &&
                          artifact.version > lock_.release;
    return is_newer ? artifact.version.same_minor(release) : release == lock_.release;
  }

  Result<void> add_wheel(const lock::Artifact& artifact) {
    auto wheel = catalog::parse_wheel_name(artifact.file);
    if (!wheel) {
      return fail(ErrorCode::integrity, "{} is no name of a wheel", artifact.file);
    }
    wheel->size = artifact.size;
    wheel->sha256 = artifact.sha256;
    for (auto& [version, release] : releases_) {
      if (is_of(artifact, version)) {
        release.versions[wheel->project].insert(wheel->version);
      }
    }
    auto& files = catalog_.projects[wheel->project];
    const bool is_known = std::any_of(files.begin(), files.end(),
                                      [&](const auto& other) { return other.file == wheel->file; });
    if (!is_known) {
      files.push_back(*std::move(wheel));
    }
    return {};
  }

  Result<void> add_archive(Platform platform, const lock::Artifact& artifact) {
    const auto place = catalog::redist_place(artifact.path);
    const auto* component = knowledge::find_component(*facts_.components, artifact.component);
    if (!place || component == nullptr || component->redist.names.empty()) {
      return fail(ErrorCode::integrity, "{} is no archive of {}", artifact.path,
                  artifact.component);
    }
    const auto& names = component->redist.names;
    const auto named = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return place->below.starts_with(name + "/");
    });
    const auto& key = named == names.end() ? names.front() : *named;
    CUKIT_TRY_ASSIGN(const auto path, RelativePath::parse(place->below));
    for (auto& [name, manifest] : manifests_) {
      const bool is_its = manifest.product == place->product &&
                          (manifest.product != k_cuda || is_of(artifact, manifest.label));
      if (is_its) {
        auto& entry = manifest.components[key];
        entry.name = key;
        entry.version = artifact.version;
        entry.archives.push_back({.platform = platform,
                                  .variant = {},
                                  .path = path,
                                  .size = artifact.size,
                                  .sha256 = artifact.sha256});
      }
    }
    return {};
  }

  static void add_requirements(Release& release) {
    for (const auto& [project, versions] : release.versions) {
      const auto text = versions.size() == 1
                            ? fmt::format("{}=={}", project, versions.begin()->text())
                            : fmt::format("{}>={},<={}", project, versions.begin()->text(),
                                          versions.rbegin()->text());
      if (auto requirement = catalog::Requirement::parse(text)) {
        release.meta.requirements.push_back(*std::move(requirement));
      }
    }
  }

  const lock::Lock& lock_;
  const Facts& facts_;
  const Version& cccl_;
  catalog::Catalog catalog_;
  std::map<Version, Release> releases_;
  std::map<std::string, catalog::RedistManifest> manifests_; ///< by path
};

/// The release that gives ptxas and nvlink beside a nvcc of the lock's own.
const OfferedRelease* release_of_ptxas(const lock::Lock& lock, const Offer& offer,
                                       const knowledge::Component& nvcc) {
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      if (artifact.component != nvcc.name || !lock::takes_ptxas(artifact.take)) {
        continue;
      }
      for (const auto* release : offer.releases()) {
        const auto* file = offer.pick(nvcc, platform.platform, *release).file;
        if (release->version > lock.release && file != nullptr && file->file == artifact.file) {
          return release;
        }
      }
    }
  }
  return nullptr;
}

const OfferedRelease* find_release(const Offer& offer, const Version& label) {
  for (const auto* release : offer.releases()) {
    if (release_label(release->version) == label) {
      return release;
    }
  }
  return nullptr;
}

Result<Candidate> chosen_again(const lock::Lock& lock, const manifest::Manifest& manifest,
                               const Facts& facts, const Offer& offer, const Version& cccl) {
  Candidate chosen;
  chosen.release = find_release(offer, lock.release);
  if (chosen.release == nullptr) {
    return fail(ErrorCode::integrity, "`pins` has nothing that CUDA {} was chosen by",
                lock.release.text());
  }
  CUKIT_TRY_ASSIGN(const auto* nvcc, facts.component(k_nvcc));
  chosen.ptxas = manifest.ptxas ? release_of_ptxas(lock, offer, *nvcc) : nullptr;
  chosen.cccl = manifest.cccl && cccl != lock.release ? find_release(offer, cccl) : nullptr;
  chosen.toolkit.release = lock.release;
  chosen.toolkit.facts = &offer.facts_of(*chosen.release);
  return chosen;
}

bool names_minor(const std::string& pin, const Version& release) {
  return pin.find(fmt::format("-{}.", release.major_minor())) != std::string::npos ||
         pin.find(fmt::format("_{}.", release.major_minor())) != std::string::npos;
}

/// Which of the releases of one minor gave a part cannot be told from the part.
void keep_pins(const lock::Lock& lock, lock::Lock& again) {
  for (const auto& [name, digest] : lock.pins) {
    const auto wheel = catalog::parse_wheel_name(name);
    const auto place = catalog::redist_place(name);
    const auto label = place ? catalog::redist_label(place->below) : std::nullopt;
    const auto release = wheel ? std::optional(wheel->version) : label;
    const bool has_its_minor =
        release && std::any_of(again.pins.begin(), again.pins.end(),
                               [&](const auto& pin) { return names_minor(pin.first, *release); });
    const bool is_lock_s = release && release->same_minor(lock.release);
    if (has_its_minor || is_lock_s) {
      again.pins.emplace(name, digest);
    }
  }
}

/// A file that was new to the cukit that locked it may be known to this one.
void keep_trust(const lock::Lock& lock, lock::Lock& again) {
  for (auto& platform : again.platforms) {
    const auto* before = lock.find(platform.platform);
    for (auto& artifact : platform.artifacts) {
      for (const auto& old :
           before == nullptr ? std::vector<lock::Artifact>() : before->artifacts) {
        artifact.trust_first_lock =
            artifact.trust_first_lock || (old.file == artifact.file && old.trust_first_lock);
      }
    }
  }
}

Result<lock::Lock> compose_with(const lock::Lock& lock, const manifest::Manifest& manifest,
                                const Facts& facts, const MachineFacts& machine,
                                const Version& cccl) {
  CUKIT_TRY_ASSIGN(const auto catalog, LockedOffer(lock, facts, cccl).run());
  const bool has_locked_gpus = lock.observed_gpus && machine.gpus.empty();
  CUKIT_TRY_ASSIGN(const auto problem, make_problem(manifest, facts, machine, !has_locked_gpus));
  Offer::Sources sources{.order = {}, .is_stated = !manifest.sources.empty(), .redist_minors = {}};
  for (const auto& wish : manifest.sources) {
    sources.order.push_back(wish.value);
  }
  if (sources.order.empty()) {
    sources.order = {std::string(k_wheels), std::string(k_redist)};
  }
  const Offer offer(catalog, facts, &lock, true, std::move(sources));
  CUKIT_TRY_ASSIGN(const auto chosen, chosen_again(lock, manifest, facts, offer, cccl));
  const Inputs inputs{.manifest = manifest,
                      .facts = facts,
                      .problem = problem,
                      .offer = offer,
                      .earlier = &lock,
                      .is_gpu_assumed = machine.assumed_gpus,
                      .is_driver_assumed = machine.assumed_driver};
  CUKIT_TRY_ASSIGN(auto resolution, compose(inputs, chosen));
  if (!resolution.needs_record.empty()) {
    return fail(ErrorCode::integrity, "{} has no `record`, although only a part of it is taken",
                resolution.needs_record.front().wheel.file);
  }
  keep_trust(lock, resolution.lock);
  keep_pins(lock, resolution.lock);
  return std::move(resolution.lock);
}

/// The releases that the lock names as what it rests on, its own first.
std::vector<Version> pinned_releases(const lock::Lock& lock) {
  std::vector<Version> result{lock.release};
  for (const auto& [name, digest] : lock.pins) {
    const auto wheel = catalog::parse_wheel_name(name);
    const auto place = catalog::redist_place(name);
    const auto label = place ? catalog::redist_label(place->below) : std::nullopt;
    const auto release = wheel ? std::optional(release_label(wheel->version)) : label;
    if (release && *release != lock.release) {
      result.push_back(*release);
    }
  }
  return result;
}

} // namespace

Result<lock::Lock> compose_again(const lock::Lock& lock, const manifest::Manifest& manifest,
                                 const knowledge::Knowledge& knowledge,
                                 const MachineFacts& machine) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load_with_tables(knowledge));
  // A package of CCCL has numbers of its own: which release it is of cannot be told from them.
  const auto releases = pinned_releases(lock);
  auto result = compose_with(lock, manifest, facts, machine, releases.front());
  for (std::size_t i = 1; manifest.cccl && i < releases.size(); ++i) {
    auto other = compose_with(lock, manifest, facts, machine, releases[i]);
    if (other && *other == lock) {
      return other;
    }
    if (!result) {
      result = std::move(other);
    }
  }
  return result;
}

} // namespace cukit::resolve
