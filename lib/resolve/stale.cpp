#include "lock/placement.hpp"
#include "resolve/problem.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

const lock::Artifact* find_artifact(const lock::PlatformLock& platform, std::string_view component,
                                    bool is_part) {
  const auto found = std::find_if(
      platform.artifacts.begin(), platform.artifacts.end(), [&](const lock::Artifact& artifact) {
        return artifact.component == component &&
               (is_part ? lock::takes_ptxas(artifact.take) : artifact.take.empty());
      });
  return found == platform.artifacts.end() ? nullptr : &*found;
}

/// Before 13.0 an archive holds other components as well (nvcc has crt).
std::optional<Version> version_of_carrier(const lock::PlatformLock& platform,
                                          const knowledge::Component& component,
                                          const Version& release) {
  const auto& recipe = component.redist;
  if (!recipe.is_older(release) || recipe.older->within.empty()) {
    return std::nullopt;
  }
  for (const auto& artifact : platform.artifacts) {
    const auto& take = artifact.take;
    const bool has_it =
        take.empty() ||
        std::all_of(recipe.older->files.begin(), recipe.older->files.end(),
                    [&](const std::string& file) {
                      return std::find(take.begin(), take.end(), file) != take.end();
                    });
    if (artifact.component == recipe.older->within && artifact.source == "redist" && has_it) {
      return artifact.version;
    }
  }
  return std::nullopt;
}

/// What the lock chose on one platform, as the rules see it. A tree may hold only some components:
/// what is absent takes the value that goes with the release, so that it breaks no rule.
/// nvcc's own version, else that of a part which carries the same (crt beside the headers alone).
Version version_of_core(const lock::PlatformLock& platform, const Version& otherwise,
                        const Facts& facts) {
  if (const auto* nvcc = find_artifact(platform, k_nvcc, false)) {
    return nvcc->version;
  }
  for (const auto& artifact : platform.artifacts) {
    const auto* component = knowledge::find_component(*facts.components, artifact.component);
    if (component != nullptr && component->follows == "core" && !lock::takes_ptxas(artifact.take)) {
      return artifact.version;
    }
  }
  return otherwise;
}

Toolkit toolkit_of(const lock::Lock& lock, const lock::PlatformLock& platform,
                   const knowledge::Release& release, const Facts& facts) {
  Toolkit toolkit;
  toolkit.release = lock.release;
  toolkit.facts = &release;
  const auto version = [&](std::string_view component, bool is_part, const Version& otherwise) {
    const auto* artifact = find_artifact(platform, component, is_part);
    return artifact == nullptr ? otherwise : artifact->version;
  };
  toolkit.nvcc = version_of_core(platform, lock.release, facts);
  toolkit.ptxas = version(k_nvcc, true, toolkit.nvcc);
  if (toolkit.has_own_ptxas()) {
    toolkit.ptxas_release = lock.release;
  }
  toolkit.cudart = version(k_cudart, false, toolkit.nvcc);
  toolkit.cccl_package = version(k_cccl, false, Version());
  const bool has_cccl = find_artifact(platform, k_cccl, false) != nullptr;
  toolkit.cccl =
      has_cccl ? rules::cccl_of_package(toolkit.cccl_package, *facts.releases) : release.cccl;
  toolkit.place = [&lock](const knowledge::Component& component, Platform on) {
    Toolkit::Place place;
    const auto* entry = lock.find(on);
    for (const auto& artifact :
         entry == nullptr ? std::vector<lock::Artifact>() : entry->artifacts) {
      const auto& headers =
          artifact.source == "redist" ? component.redist.headers : component.headers;
      const bool is_headers = !artifact.take.empty() && artifact.take == headers;
      if (artifact.component == component.name && (artifact.take.empty() || is_headers)) {
        place.version = artifact.version;
      }
    }
    if (!place.version && entry != nullptr) {
      place.version = version_of_carrier(*entry, component, lock.release);
    }
    const auto& allowed = component.platforms;
    place.is_not_made =
        !allowed.empty() && std::find(allowed.begin(), allowed.end(), on) == allowed.end();
    place.why_not = fmt::format("the lock has no {} for {}", component.name, on.text());
    return place;
  };
  return toolkit;
}

std::string gpus_text(const std::vector<GpuTarget>& gpus) {
  std::string text;
  for (const auto& gpu : gpus) {
    text += (text.empty() ? "" : ", ") + gpu.sm();
  }
  return text;
}

std::string broken_rule(const lock::Lock& lock, const lock::PlatformLock& platform,
                        const knowledge::Release& release, const Facts& facts,
                        const Problem& problem) {
  const auto toolkit = toolkit_of(lock, platform, release, facts);
  for (const auto& constraint : problem.constraints) {
    if (const auto verdict = constraint.check(toolkit)) {
      return fmt::format("rule {}: {}", verdict->rule->id, verdict->reason);
    }
  }
  return {};
}

constexpr const char* k_untrusted_lock =
    "do not build from this lock: make it anew with `cukit lock`, from an index that you trust";

tl::unexpected<Error> stands_in(const std::string& what, const std::string& original) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::integrity,
            .message = fmt::format("the lock has {} where this cukit knows {} as the file of that "
                                   "release",
                                   what, original),
            .hint = k_untrusted_lock});
}

tl::unexpected<Error> mismatch(const std::string& what, const Sha256& known, const Sha256& locked) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::integrity,
            .message = fmt::format("the lock has {} with {}, but this cukit knows it with {}", what,
                                   locked.text(), known.text()),
            .hint = k_untrusted_lock});
}

} // namespace

Result<std::string> stale(const lock::Lock& lock, const manifest::Manifest& manifest,
                          const knowledge::Knowledge& knowledge, const MachineFacts& machine) {
  if (lock.manifest != manifest.digest) {
    return std::string("the manifest has changed since the lock was made");
  }
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(knowledge));
  const auto* release = knowledge::find_release(*facts.releases, lock.release);
  if (release == nullptr) {
    return fmt::format("the lock holds CUDA {}, which this cukit does not know",
                       lock.release.text());
  }
  CUKIT_TRY_ASSIGN(const auto problem, make_problem(manifest, facts, machine, false));
  for (const auto platform : problem.platforms) {
    if (lock.find(platform) == nullptr) {
      return fmt::format("the lock holds nothing for {}", platform.text());
    }
  }
  if (manifest.native_gpus && !machine.gpus.empty() && problem.gpus != lock.gpus) {
    return fmt::format("the GPUs are {} now, and the lock was made for {}", gpus_text(problem.gpus),
                       gpus_text(lock.gpus));
  }
  for (const auto& platform : lock.platforms) {
    if (auto text = broken_rule(lock, platform, *release, facts, problem); !text.empty()) {
      return text;
    }
  }
  return std::string();
}

Result<void> check_pins(const lock::Lock& lock, const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto* pins, knowledge.pins());
  const PinnedFiles pinned(*pins);
  const auto compare = [&](const std::string& what, const Sha256& locked) -> Result<void> {
    const auto known = pins->find(what);
    if (known != pins->end()) {
      return known->second == locked ? Result<void>() : mismatch(what, known->second, locked);
    }
    const auto wheel = catalog::parse_wheel_name(what);
    if (!wheel) {
      return {};
    }
    const auto original = pinned.original_of(*wheel);
    return original.empty() ? Result<void>() : stands_in(what, original);
  };
  for (const auto& [file, digest] : lock.pins) {
    CUKIT_TRY(compare(file, digest));
  }
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      CUKIT_TRY(compare(artifact.file, artifact.sha256));
      if (artifact.record) {
        CUKIT_TRY(compare("RECORD of " + artifact.file, *artifact.record));
      }
    }
  }
  return {};
}

} // namespace cukit::resolve
