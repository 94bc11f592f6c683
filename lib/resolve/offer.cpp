#include "resolve/offer.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

bool applies(const catalog::Requirement& requirement, const knowledge::Component& component,
             Platform platform) {
  return requirement.project == component.project &&
         ((!component.extra.empty() && requirement.applies(platform, component.extra)) ||
          requirement.applies(platform, "all"));
}

const catalog::Requirement* requirement_for(const knowledge::Component& component,
                                            Platform platform,
                                            const catalog::MetaRelease& release) {
  const auto found =
      std::find_if(release.requirements.begin(), release.requirements.end(),
                   [&](const auto& entry) { return applies(entry, component, platform); });
  return found == release.requirements.end() ? nullptr : &*found;
}

bool is_for(const catalog::WheelFile& wheel, Platform platform) {
  return wheel.machine == "any" || wheel.machine == platform.machine();
}

/// Which of two wheels that both fit is the better one: the newer version, then the older C
/// library, then the name.
bool is_better(const catalog::WheelFile& a, const catalog::WheelFile& b) {
  if (a.version != b.version) {
    return a.version > b.version;
  }
  const auto glibc = [](const catalog::WheelFile& wheel) {
    return Version::parse(wheel.glibc).value_or(Version());
  };
  const auto left = glibc(a);
  const auto right = glibc(b);
  return left != right ? left < right : a.file < b.file;
}

} // namespace

Version release_label(const Version& version) {
  bool has_tail = version.is_prerelease() || version.has_post() || version.is_local();
  for (std::size_t i = 3; i < version.release().size(); ++i) {
    has_tail = has_tail || version.part(i) != 0;
  }
  if (has_tail) {
    return version;
  }
  return Version::parse(fmt::format("{}.{}.{}", version.part(0), version.part(1), version.part(2)))
      .value_or(version);
}

Offer::Offer(const catalog::Catalog& catalog, const Facts& facts, const lock::Lock* earlier,
             bool with_prereleases)
    : catalog_(catalog), facts_(facts), earlier_(earlier) {
  for (const auto& release : catalog.releases) {
    if (may_take(release.file, with_prereleases)) {
      releases_.push_back(&release);
    }
  }
  std::sort(releases_.begin(), releases_.end(), [](const auto* a, const auto* b) {
    return a->version != b->version ? a->version < b->version : a->file.file < b->file.file;
  });
  const auto is_same = [](const auto* a, const auto* b) { return a->version == b->version; };
  releases_.erase(std::unique(releases_.begin(), releases_.end(), is_same), releases_.end());
  // The page lists what was not even loaded as a release.
  const auto page = catalog.projects.find(std::string(k_toolkit_project));
  if (page != catalog.projects.end()) {
    for (const auto& file : page->second) {
      may_take(file, with_prereleases);
    }
  }
  std::sort(left_out_.begin(), left_out_.end(), [](const LeftOut& a, const LeftOut& b) {
    return a.version != b.version ? a.version < b.version : a.text < b.text;
  });
  const auto is_repeated = [](const LeftOut& a, const LeftOut& b) { return a.text == b.text; };
  left_out_.erase(std::unique(left_out_.begin(), left_out_.end(), is_repeated), left_out_.end());
}

/// Whether a release can be considered; if not, and it is one that somebody might miss, left_out()
/// says why.
bool Offer::may_take(const catalog::WheelFile& release, bool with_prereleases) {
  const auto& version = release.version;
  const auto leave_out = [&](const rules::Rule& rule, std::string_view why) {
    left_out_.push_back({.version = version,
                         .rule = &rule,
                         .text = fmt::format("CUDA {} {}", release_label(version).text(), why)});
    return false;
  };
  if (rules::compiler_wheels(version)) {
    return false;
  }
  if (release.yanked) {
    return leave_out(rules::k_prerelease, release.yanked_why.empty()
                                              ? "was yanked"
                                              : "was yanked: " + release.yanked_why);
  }
  if (version.is_prerelease() && !with_prereleases) {
    return leave_out(rules::k_prerelease, "is a pre-release and is not taken unasked");
  }
  return knowledge::find_release(*facts_.releases, version) != nullptr ||
         leave_out(rules::k_availability, "is offered, but this cukit does not know it yet");
}

const knowledge::Release& Offer::facts_of(const catalog::MetaRelease& release) const {
  const auto* facts = knowledge::find_release(*facts_.releases, release.version);
  CUKIT_ENSURE(facts != nullptr, "only known releases are offered");
  return *facts;
}

std::optional<Version> Offer::nvcc_of(const catalog::MetaRelease& release) const {
  const auto* nvcc = knowledge::find_component(*facts_.components, k_nvcc);
  for (const Platform platform : Platform::all()) {
    const auto& found = pick(*nvcc, platform, release);
    if (found.wheel != nullptr) {
      return found.wheel->version;
    }
  }
  return std::nullopt;
}

const Pick& Offer::pick(const knowledge::Component& component, Platform platform,
                        const catalog::MetaRelease& release) const {
  const auto [place, is_new] = picks_.try_emplace({&component, platform, &release});
  if (is_new) {
    place->second = find(component, platform, release);
  }
  return place->second;
}

Pick Offer::find(const knowledge::Component& component, Platform platform,
                 const catalog::MetaRelease& release) const {
  Pick none;
  const auto label = release_label(release.version).text();
  const auto& allowed = component.platforms;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), platform) == allowed.end()) {
    none.state = Pick::State::not_on_platform;
    none.why_not = fmt::format("{} is not made for {}", component.name, platform.text());
    return none;
  }
  if (const auto* requirement = requirement_for(component, platform, release)) {
    return choose(component, platform, release, *requirement);
  }
  const auto all = Platform::all();
  const bool is_elsewhere = std::any_of(all.begin(), all.end(), [&](Platform other) {
    return requirement_for(component, other, release) != nullptr;
  });
  if (is_elsewhere) {
    none.state = Pick::State::not_on_platform;
    none.why_not = fmt::format("CUDA {} has no {} for {}", label, component.name, platform.text());
    return none;
  }
  if (component.follows == "binutils") {
    return find_in_newer(component, platform, release);
  }
  none.why_not = fmt::format("CUDA {} has no {} among its wheels", label, component.name);
  return none;
}

/// The lowest newer minor of the same major that has the component, in its newest patch release;
/// what the earlier lock holds goes first. The release that is named as its origin is the oldest
/// that pins this wheel, so that a later one changes nothing.
Pick Offer::find_in_newer(const knowledge::Component& component, Platform platform,
                          const catalog::MetaRelease& release) const {
  Pick best;
  const auto label = release_label(release.version).text();
  for (const auto* other : releases_) {
    const bool is_candidate = other->version.major() == release.version.major() &&
                              other->version > release.version &&
                              other->version.is_prerelease() <= release.version.is_prerelease();
    if (!is_candidate || requirement_for(component, platform, *other) == nullptr) {
      continue;
    }
    const auto& found = pick(component, platform, *other);
    if (found.wheel == nullptr) {
      continue;
    }
    const bool is_locked = locked(component, platform, found.wheel->file) != nullptr;
    const bool is_later_patch =
        best.wheel != nullptr && best.from->version.same_minor(other->version);
    if (best.wheel == nullptr || (found.wheel != best.wheel && (is_later_patch || is_locked))) {
      best = found;
      best.how = fmt::format("CUDA {} has no {} among its wheels; {} is the lowest newer minor "
                             "that has, and reads older binaries",
                             label, component.name, other->version.major_minor());
    }
    if (is_locked) {
      break;
    }
  }
  if (best.wheel == nullptr) {
    best.why_not = fmt::format("neither CUDA {} nor a newer minor has {} among its wheels", label,
                               component.name);
  }
  return best;
}

Pick Offer::choose(const knowledge::Component& component, Platform platform,
                   const catalog::MetaRelease& release,
                   const catalog::Requirement& requirement) const {
  Pick result;
  result.from = &release;
  const auto label = release_label(release.version).text();
  const bool is_pinned = requirement.range.text().starts_with("==") &&
                         requirement.range.text().find(',') == std::string::npos;
  const bool needs_minor = !is_pinned && has_minor_of_nvcc(component.name);
  bool is_elsewhere = false;
  std::string yanked;
  const auto pages = catalog_.projects.find(component.project);
  const std::vector<catalog::WheelFile> none;
  for (const auto& wheel : pages == catalog_.projects.end() ? none : pages->second) {
    const bool fits = requirement.range.contains(wheel.version) &&
                      (!needs_minor || wheel.version.same_minor(release.version));
    if (!fits || !is_for(wheel, platform)) {
      is_elsewhere = is_elsewhere || fits;
      continue;
    }
    if (wheel.yanked) {
      yanked = fmt::format(", but for {}, which was yanked", wheel.file);
      continue;
    }
    const bool is_locked = locked(component, platform, wheel.file) != nullptr;
    const bool has_locked =
        result.wheel != nullptr && locked(component, platform, result.wheel->file) != nullptr;
    if (result.wheel == nullptr || is_locked > has_locked ||
        (is_locked == has_locked && is_better(wheel, *result.wheel))) {
      result.wheel = &wheel;
    }
  }
  if (result.wheel == nullptr) {
    result.state = is_elsewhere ? Pick::State::not_on_platform : Pick::State::missing;
    result.why_not = fmt::format("the index has no {} {} for {}{}", component.project,
                                 requirement.range.text(), platform.text(), yanked);
    return result;
  }
  result.state = Pick::State::found;
  result.how =
      is_pinned
          ? fmt::format("pinned by the metapackage of CUDA {}", label)
          : fmt::format("the newest with nvcc's minor; the metapackage of CUDA {} only says {}",
                        label, requirement.range.text());
  return result;
}

const lock::Artifact* Offer::locked(const knowledge::Component& component, Platform platform,
                                    const std::string& file) const {
  const auto* entry = earlier_ == nullptr ? nullptr : earlier_->find(platform);
  if (entry == nullptr) {
    return nullptr;
  }
  const auto found = std::find_if(
      entry->artifacts.begin(), entry->artifacts.end(), [&](const lock::Artifact& artifact) {
        return artifact.component == component.name && artifact.file == file;
      });
  return found == entry->artifacts.end() ? nullptr : &*found;
}

} // namespace cukit::resolve
