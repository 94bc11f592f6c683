// Releases and their wheels; archives are in offer_redist.cpp.
#include "resolve/offer.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

bool applies(const catalog::Requirement& requirement, const knowledge::Component& component,
             Platform platform) {
  return !component.project.empty() && requirement.project == component.project &&
         ((!component.extra.empty() && requirement.applies(platform, component.extra)) ||
          requirement.applies(platform, "all"));
}

const catalog::Requirement* requirement_for(const knowledge::Component& component,
                                            Platform platform, const OfferedRelease& release) {
  if (release.wheels == nullptr) {
    return nullptr;
  }
  const auto& requirements = release.wheels->requirements;
  const auto found = std::find_if(requirements.begin(), requirements.end(), [&](const auto& entry) {
    return applies(entry, component, platform);
  });
  return found == requirements.end() ? nullptr : &*found;
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
             bool with_prereleases, Sources sources)
    : catalog_(catalog), facts_(facts), earlier_(earlier), sources_(std::move(sources.order)),
      is_stated_(sources.is_stated), redist_minors_(std::move(sources.redist_minors)) {
  // A source that nobody asked has nothing to say, not even what it lacks.
  std::erase_if(sources_, [&](const std::string& source) {
    return source == k_redist ? !catalog.redist_was_asked : catalog.projects.empty();
  });
  if (uses(k_wheels)) {
    add_wheels(with_prereleases);
  }
  if (uses(k_redist)) {
    add_manifests();
  }
  for (const auto& release : storage_) {
    releases_.push_back(release.get());
  }
  std::sort(releases_.begin(), releases_.end(),
            [](const auto* a, const auto* b) { return a->version < b->version; });
  std::sort(left_out_.begin(), left_out_.end(), [](const LeftOut& a, const LeftOut& b) {
    return a.version != b.version ? a.version < b.version : a.text < b.text;
  });
  const auto is_repeated = [](const LeftOut& a, const LeftOut& b) { return a.text == b.text; };
  left_out_.erase(std::unique(left_out_.begin(), left_out_.end(), is_repeated), left_out_.end());
}

bool Offer::uses(std::string_view source) const {
  return std::find(sources_.begin(), sources_.end(), source) != sources_.end();
}

OfferedRelease& Offer::release_of(const Version& version) {
  const auto found = std::find_if(storage_.begin(), storage_.end(),
                                  [&](const auto& release) { return release->version == version; });
  if (found != storage_.end()) {
    return **found;
  }
  storage_.push_back(std::make_unique<OfferedRelease>(OfferedRelease{.version = version}));
  return *storage_.back();
}

void Offer::add_wheels(bool with_prereleases) {
  std::vector<const catalog::MetaRelease*> sorted;
  for (const auto& release : catalog_.releases) {
    if (may_take(release.file, with_prereleases) && !has_original(release.file)) {
      sorted.push_back(&release);
    }
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->file.file < b->file.file; });
  for (const auto* wheels : sorted) {
    auto& release = release_of(wheels->version);
    release.wheels = release.wheels == nullptr ? wheels : release.wheels;
  }
  // The page lists what was not even loaded as a release.
  const auto page = catalog_.projects.find(std::string(k_toolkit_project));
  if (page != catalog_.projects.end()) {
    for (const auto& file : page->second) {
      may_take(file, with_prereleases);
    }
  }
}

/// Whether it stands in for the metapackage of a known release that the index has as well.
bool Offer::has_original(const catalog::WheelFile& release) const {
  const auto original = facts_.pinned->original_of(release);
  return !original.empty() &&
         std::any_of(catalog_.releases.begin(), catalog_.releases.end(),
                     [&](const auto& other) { return other.file.file == original; });
}

/// How far a file is to be preferred for what this cukit knows of it: one that stands in for a
/// known one is taken last, and then refused; in a release that is known to its last file another
/// one than those comes behind them.
int Offer::trust_in(const catalog::WheelFile& wheel, bool is_known_release) const {
  if (facts_.pinned->contains(wheel.file)) {
    return 2;
  }
  if (!facts_.pinned->original_of(wheel).empty()) {
    return 0;
  }
  return is_known_release ? 1 : 2;
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
  if (rules::compiler_wheels(*facts_.limits, version)) {
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

const knowledge::Release& Offer::facts_of(const OfferedRelease& release) const {
  const auto* facts = knowledge::find_release(*facts_.releases, release.version);
  CUKIT_ENSURE(facts != nullptr, "only known releases are offered");
  return *facts;
}

std::optional<Version> Offer::nvcc_of(const OfferedRelease& release) const {
  const auto* nvcc = knowledge::find_component(*facts_.components, k_nvcc);
  for (const Platform platform : Platform::all()) {
    const auto& found = pick(*nvcc, platform, release);
    if (found.file != nullptr) {
      return found.file->version;
    }
  }
  return std::nullopt;
}

const Offered* Offer::offered(const catalog::WheelFile& wheel) const {
  auto& file = files_[&wheel];
  if (!file) {
    file = std::make_unique<Offered>(Offered{.source = std::string(k_wheels),
                                             .file = wheel.file,
                                             .path = {},
                                             .version = wheel.version,
                                             .size = wheel.size,
                                             .sha256 = wheel.sha256,
                                             .glibc = wheel.glibc,
                                             .wheel = &wheel});
  }
  return file.get();
}

const Pick& Offer::pick(const knowledge::Component& component, Platform platform,
                        const OfferedRelease& release) const {
  const auto [place, is_new] = picks_.try_emplace({&component, platform, &release});
  if (is_new) {
    place->second = find(component, platform, release);
  }
  return place->second;
}

Pick Offer::pick_headers(const knowledge::Component& component, Platform platform,
                         const OfferedRelease& release) const {
  const auto& own = pick(component, platform, release);
  if (own.file == nullptr || own.file->source == k_wheels || !uses(k_wheels)) {
    return own;
  }
  auto wheel = find_in(k_wheels, component, platform, release);
  return wheel.file != nullptr && wheel.file->version == own.file->version ? wheel : own;
}

/// The first source that has it in this release; binary utilities may also be a newer release's.
Pick Offer::find(const knowledge::Component& component, Platform platform,
                 const OfferedRelease& release) const {
  const auto& allowed = component.platforms;
  Pick none;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), platform) == allowed.end()) {
    none.state = Pick::State::not_on_platform;
    none.why_not = fmt::format("{} is not made for {}", component.name, platform.text());
    return none;
  }
  std::optional<Pick> best;
  std::vector<std::string> reasons;
  none.state = Pick::State::not_on_platform;
  for (const auto& source : sources_) {
    auto found = find_in(source, component, platform, release);
    if (found.file == nullptr) {
      none.state = found.state == Pick::State::missing ? found.state : none.state;
      reasons.push_back(std::move(found.why_not));
    } else if (!best || (!is_stated_ && is_locked(component, platform, found.file->file) &&
                         !is_locked(component, platform, best->file->file))) {
      best = std::move(found);
    }
  }
  if (best) {
    return *std::move(best);
  }
  if (component.follows == "binutils" && none.state == Pick::State::missing) {
    return find_in_newer(component, platform, release);
  }
  none.why_not = join(reasons, ", and ");
  return none;
}

Pick Offer::find_in(std::string_view source, const knowledge::Component& component,
                    Platform platform, const OfferedRelease& release) const {
  return source == k_redist ? find_archive(component, platform, release)
                            : find_wheel(component, platform, release);
}

Pick Offer::find_wheel(const knowledge::Component& component, Platform platform,
                       const OfferedRelease& release) const {
  Pick none;
  const auto label = release_label(release.version).text();
  if (component.project.empty()) {
    none.why_not = fmt::format("{} is in no wheel", component.name);
    return none;
  }
  if (component.follows == "own") {
    return find_newest_wheel(component, platform, release);
  }
  if (release.wheels == nullptr) {
    none.why_not = fmt::format("CUDA {} has no wheels that make a toolkit", label);
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
  none.why_not = fmt::format("CUDA {} has no {} among its wheels", label, component.name);
  return none;
}

/// A library with numbers of its own: the newest that is made for the release's major; what the
/// earlier lock holds goes first.
Pick Offer::find_newest_wheel(const knowledge::Component& component, Platform platform,
                              const OfferedRelease& release) const {
  Pick result;
  const auto project = component.project_of(release.version);
  const auto page = catalog_.projects.find(project);
  const catalog::WheelFile* best = nullptr;
  const auto rank = [&](const catalog::WheelFile& wheel) {
    return std::pair(trust_in(wheel, false), is_locked(component, platform, wheel.file));
  };
  static const std::vector<catalog::WheelFile> none;
  for (const auto& wheel : page == catalog_.projects.end() ? none : page->second) {
    const bool is_fit = !wheel.yanked && !wheel.version.is_prerelease() && is_for(wheel, platform);
    if (is_fit && (best == nullptr || rank(wheel) > rank(*best) ||
                   (rank(wheel) == rank(*best) && is_better(wheel, *best)))) {
      best = &wheel;
    }
  }
  if (best == nullptr) {
    result.why_not = fmt::format("the index has no {} for {}", project, platform.text());
    return result;
  }
  result.state = Pick::State::found;
  result.file = offered(*best);
  result.from = &release;
  result.how = fmt::format("the newest {} on the index", project);
  return result;
}

/// The lowest newer minor of the same major that has the component, in its newest patch release;
/// what the earlier lock holds goes first. The release that is named as its origin is the oldest
/// that pins this wheel, so that a later one changes nothing.
Pick Offer::find_in_newer(const knowledge::Component& component, Platform platform,
                          const OfferedRelease& release) const {
  Pick best;
  const auto label = release_label(release.version).text();
  for (const auto* other : releases_) {
    const bool is_candidate = other->version.major() == release.version.major() &&
                              other->version > release.version &&
                              other->version.is_prerelease() <= release.version.is_prerelease();
    if (!is_candidate) {
      continue;
    }
    const auto& found = pick(component, platform, *other);
    if (found.file == nullptr || found.from != other) { // a newer one's own, not what it borrows
      continue;
    }
    const bool is_kept = is_locked(component, platform, found.file->file);
    const bool is_later_patch =
        best.file != nullptr && best.from->version.same_minor(other->version);
    if (best.file == nullptr || (found.file != best.file && (is_later_patch || is_kept))) {
      best = found;
      best.how = fmt::format("CUDA {} has no {} among its wheels; {} is the lowest newer minor "
                             "that has, and reads older binaries",
                             label, component.name, other->version.major_minor());
    }
    if (is_kept) {
      break;
    }
  }
  if (best.file == nullptr) {
    best.why_not = fmt::format("neither CUDA {} nor a newer minor has {} among its wheels", label,
                               component.name);
  }
  return best;
}

Pick Offer::choose(const knowledge::Component& component, Platform platform,
                   const OfferedRelease& release, const catalog::Requirement& requirement) const {
  Pick result;
  result.from = &release;
  const auto label = release_label(release.version).text();
  const bool is_pinned = requirement.range.text().starts_with("==") &&
                         requirement.range.text().find(',') == std::string::npos;
  const bool needs_minor = !is_pinned && component.has_minor_of_nvcc;
  const bool is_known_release = facts_.pinned->contains(release.wheels->file.file);
  const auto rank = [&](const catalog::WheelFile& wheel) {
    return std::pair(trust_in(wheel, is_known_release), is_locked(component, platform, wheel.file));
  };
  bool is_elsewhere = false;
  const catalog::WheelFile* best = nullptr;
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
    if (best == nullptr || rank(wheel) > rank(*best) ||
        (rank(wheel) == rank(*best) && is_better(wheel, *best))) {
      best = &wheel;
    }
  }
  if (best == nullptr) {
    result.state = is_elsewhere ? Pick::State::not_on_platform : Pick::State::missing;
    result.why_not = fmt::format("the index has no {} {} for {}{}", component.project,
                                 requirement.range.text(), platform.text(), yanked);
    return result;
  }
  result.state = Pick::State::found;
  result.file = offered(*best);
  result.pinned_by = release.wheels->file.file;
  result.pin = release.wheels->file.sha256;
  result.how =
      is_pinned
          ? fmt::format("pinned by the metapackage of CUDA {}", label)
          : fmt::format("the newest with nvcc's minor; the metapackage of CUDA {} only says {}",
                        label, requirement.range.text());
  return result;
}

bool Offer::is_locked(const knowledge::Component& component, Platform platform,
                      const std::string& file) const {
  const auto* entry = earlier_ == nullptr ? nullptr : earlier_->find(platform);
  return entry != nullptr && std::any_of(entry->artifacts.begin(), entry->artifacts.end(),
                                         [&](const lock::Artifact& artifact) {
                                           return artifact.component == component.name &&
                                                  artifact.file == file;
                                         });
}

} // namespace cukit::resolve
