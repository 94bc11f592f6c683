#include "resolve/search.hpp"

#include "lock/placement.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

using Releases = std::vector<const OfferedRelease*>;

/// The version of a component in a release, from the first platform that has it.
const Offered* file_of(const Offer& offer, const knowledge::Component& component,
                       const std::vector<Platform>& platforms, const OfferedRelease& release) {
  for (const auto platform : platforms) {
    if (const auto* file = offer.pick(component, platform, release).file) {
      return file;
    }
  }
  return nullptr;
}

/// What the earlier lock holds of a component on any platform: whole, or as the part that `is_part`
/// names.
std::optional<Version> locked_version(const lock::Lock* earlier, std::string_view component,
                                      bool is_part) {
  if (earlier == nullptr) {
    return std::nullopt;
  }
  for (const auto& platform : earlier->platforms) {
    for (const auto& artifact : platform.artifacts) {
      const bool fits = is_part ? lock::takes_ptxas(artifact.take) : artifact.take.empty();
      if (artifact.component == component && fits) {
        return artifact.version;
      }
    }
  }
  return std::nullopt;
}

class Enumeration {
public:
  Enumeration(const manifest::Manifest& manifest, const Facts& facts, const Offer& offer,
              const std::vector<Platform>& platforms, const lock::Lock* earlier)
      : manifest_(manifest), facts_(facts), offer_(offer), platforms_(platforms), earlier_(earlier),
        nvcc_(*knowledge::find_component(*facts.components, k_nvcc)),
        cudart_(*knowledge::find_component(*facts.components, k_cudart)),
        cccl_(*knowledge::find_component(*facts.components, k_cccl)) {}

  std::vector<Candidate> run() {
    Releases releases = offer_.releases();
    std::stable_sort(releases.begin(), releases.end(),
                     [&](const auto* a, const auto* b) { return comes_before(*a, *b); });
    std::vector<Candidate> result;
    for (const auto* release : releases) {
      const auto base = toolkit(*release);
      if (!base) {
        continue;
      }
      for (const auto* ptxas : newer(*release, nvcc_, manifest_.ptxas, true)) {
        for (const auto* cccl : newer(*release, cccl_, manifest_.cccl, false)) {
          result.push_back(candidate(*release, ptxas, cccl, *base));
        }
      }
    }
    return result;
  }

private:
  bool comes_before(const OfferedRelease& a, const OfferedRelease& b) const {
    if (earlier_ != nullptr) {
      const bool a_is_locked = a.version == earlier_->release;
      const bool b_is_locked = b.version == earlier_->release;
      if (a_is_locked != b_is_locked) {
        return a_is_locked;
      }
    }
    std::optional<Version> torch;
    if (manifest_.pytorch_cuda) {
      torch = manifest_.pytorch_cuda->value;
    }
    const int order = compare_preference(a.version, b.version, torch);
    return order != 0 ? order < 0 : a.version > b.version;
  }

  std::optional<Toolkit> toolkit(const OfferedRelease& release) const {
    const auto* nvcc = file_of(offer_, nvcc_, platforms_, release);
    const auto* cudart = file_of(offer_, cudart_, platforms_, release);
    const auto* cccl = file_of(offer_, cccl_, platforms_, release);
    if (nvcc == nullptr || cudart == nullptr || cccl == nullptr) {
      return std::nullopt;
    }
    Toolkit result;
    result.release = release_label(release.version);
    result.facts = &offer_.facts_of(release);
    result.nvcc = nvcc->version;
    result.ptxas = nvcc->version;
    result.ptxas_release = result.release;
    result.cudart = cudart->version;
    result.cccl_package = cccl->version;
    result.cccl = rules::cccl_of_package(cccl->version, *facts_.releases);
    return result;
  }

  /// Null (the release's own) and, where the manifest has a wish, newer releases of the major that
  /// fulfil it. Of several releases with one version of the component the oldest stands for all, so
  /// that a later patch release changes nothing.
  Releases newer(const OfferedRelease& release, const knowledge::Component& component,
                 const std::optional<manifest::Wish<VersionRange>>& wish, bool is_part) const {
    Releases result{nullptr};
    if (!wish) {
      return result;
    }
    const auto* own = file_of(offer_, component, platforms_, release);
    std::vector<Version> seen;
    for (const auto* other : offer_.releases()) {
      const auto* file = file_of(offer_, component, platforms_, *other);
      if (file == nullptr || own == nullptr || other->version.major() != release.version.major() ||
          file->version <= own->version) {
        continue;
      }
      const bool fulfils =
          is_part
              ? matches(wish->value, release_label(other->version), file->version)
              : matches_cccl(wish->value, rules::cccl_of_package(file->version, *facts_.releases),
                             file->version);
      if (fulfils && std::find(seen.begin(), seen.end(), file->version) == seen.end()) {
        seen.push_back(file->version);
        result.push_back(other);
      }
    }
    const auto locked = locked_version(earlier_, component.name, is_part);
    const auto is_locked = [&](const OfferedRelease* entry) {
      return locked && entry != nullptr &&
             file_of(offer_, component, platforms_, *entry)->version == *locked;
    };
    std::stable_sort(result.begin(), result.end(), [&](const auto* a, const auto* b) {
      if (is_locked(a) != is_locked(b)) {
        return is_locked(a);
      }
      if (a == nullptr || b == nullptr) {
        return a == nullptr && b != nullptr;
      }
      return a->version.same_minor(b->version) ? a->version > b->version : a->version < b->version;
    });
    return result;
  }

  Candidate candidate(const OfferedRelease& release, const OfferedRelease* ptxas,
                      const OfferedRelease* cccl, const Toolkit& base) const {
    Candidate result{.release = &release, .ptxas = ptxas, .cccl = cccl, .toolkit = base};
    if (ptxas != nullptr) {
      result.toolkit.ptxas = file_of(offer_, nvcc_, platforms_, *ptxas)->version;
      result.toolkit.ptxas_release = release_label(ptxas->version);
    }
    if (cccl != nullptr) {
      result.toolkit.cccl_package = file_of(offer_, cccl_, platforms_, *cccl)->version;
      result.toolkit.cccl = rules::cccl_of_package(result.toolkit.cccl_package, *facts_.releases);
    }
    result.toolkit.place = [&offer = offer_, &release, ptxas, cccl, nvcc = &nvcc_](
                               const knowledge::Component& component, Platform platform) {
      const bool is_cccl = component.name == k_cccl && cccl != nullptr;
      const auto& pick = offer.pick(component, platform, is_cccl ? *cccl : release);
      Toolkit::Place place{.version = {},
                           .is_not_made = pick.state == Pick::State::not_on_platform,
                           .why_not = pick.why_not};
      if (pick.file != nullptr) {
        place.version = pick.file->version;
      }
      if (&component == nvcc && ptxas != nullptr && place.version) {
        const auto& part = offer.pick(component, platform, *ptxas);
        if (part.file == nullptr) {
          place = {.version = {}, .is_not_made = false, .why_not = part.why_not};
        }
      }
      return place;
    };
    return result;
  }

  const manifest::Manifest& manifest_;
  const Facts& facts_;
  const Offer& offer_;
  const std::vector<Platform>& platforms_;
  const lock::Lock* earlier_;
  const knowledge::Component& nvcc_;
  const knowledge::Component& cudart_;
  const knowledge::Component& cccl_;
};

} // namespace

int compare_preference(const Version& a, const Version& b, const std::optional<Version>& torch) {
  if (a.same_minor(b)) {
    return 0;
  }
  const bool a_is_newer = a.major() != b.major() ? a.major() > b.major() : a.minor() > b.minor();
  if (!torch) {
    return a_is_newer ? -1 : 1;
  }
  const auto is_old = [&](const Version& version) {
    return !version.same_minor(*torch) && version < *torch;
  };
  if (is_old(a) != is_old(b)) {
    return is_old(a) ? 1 : -1;
  }
  const bool lowest_first = !is_old(a);
  return a_is_newer == lowest_first ? 1 : -1;
}

std::vector<Candidate> candidates(const manifest::Manifest& manifest, const Facts& facts,
                                  const Offer& offer, const std::vector<Platform>& platforms,
                                  const lock::Lock* earlier) {
  return Enumeration(manifest, facts, offer, platforms, earlier).run();
}

std::vector<PassedOver> passed_over(const Problem& problem,
                                    const std::vector<Candidate>& candidates, std::size_t chosen) {
  std::vector<PassedOver> result;
  for (std::size_t i = 0; i < chosen; ++i) {
    const auto& toolkit = candidates[i].toolkit;
    auto release = toolkit.release.text();
    const bool is_told = std::any_of(result.begin(), result.end(), [&](const PassedOver& other) {
      return other.release == release;
    });
    if (is_told || toolkit.release == candidates[chosen].toolkit.release) {
      continue;
    }
    for (const auto& constraint : problem.constraints) {
      const auto verdict = constraint.check(toolkit);
      if (!verdict) {
        continue;
      }
      PassedOver entry{.release = std::move(release),
                       .demand = {},
                       .reason = verdict->reason,
                       .source = std::string(verdict->rule->source)};
      if (!constraint.demands.empty()) { // the last is the most particular: gpu of (consumer, gpu)
        const auto& wished = problem.demands[constraint.demands.back()];
        entry.demand = wished.text();
        entry.line = wished.at.line;
      }
      result.push_back(std::move(entry));
      break;
    }
  }
  return result;
}

std::optional<std::size_t> first_allowed(const Problem& problem,
                                         const std::vector<Candidate>& candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& toolkit = candidates[i].toolkit;
    const bool is_allowed = std::none_of(
        problem.constraints.begin(), problem.constraints.end(),
        [&](const Constraint& constraint) { return constraint.check(toolkit).has_value(); });
    if (is_allowed) {
      return i;
    }
  }
  return std::nullopt;
}

} // namespace cukit::resolve
