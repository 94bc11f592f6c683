#include "pipeline/kept.hpp"

#include "base/strings.hpp"
#include "lock/placement.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

constexpr std::string_view k_release = "cuda";
constexpr std::string_view k_ptxas = "ptxas";

bool is_part(const lock::Artifact& artifact) {
  return lock::takes_ptxas(artifact.take);
}

/// Takes the choice out of the lock; false when the lock has none of that name.
bool forget(lock::Lock& lock, const std::string& name) {
  std::size_t erased = 0;
  for (auto& platform : lock.platforms) {
    erased += std::erase_if(platform.artifacts, [&](const lock::Artifact& artifact) {
      return name == k_ptxas ? is_part(artifact) : artifact.component == name && !is_part(artifact);
    });
  }
  return erased > 0;
}

bool holds(const lock::Lock& lock, const std::string& name) {
  return std::any_of(lock.platforms.begin(), lock.platforms.end(), [&](const auto& platform) {
    return std::any_of(platform.artifacts.begin(), platform.artifacts.end(),
                       [&](const lock::Artifact& artifact) {
                         return name == k_ptxas ? is_part(artifact)
                                                : artifact.component == name && !is_part(artifact);
                       });
  });
}

} // namespace

std::string comes_with(const lock::Lock& lock, const std::string& name,
                       const std::vector<knowledge::Component>& recipes) {
  if (holds(lock, name)) {
    return {};
  }
  std::string carrier;
  const auto* component = knowledge::find_component(recipes, name);
  if (name == k_ptxas) {
    carrier = "nvcc";
  } else if (component != nullptr && component->redist.is_older(lock.release)) {
    carrier = component->redist.older->within;
  }
  return !carrier.empty() && holds(lock, carrier) ? carrier : std::string();
}

Result<std::optional<lock::Lock>> kept_choices(const std::optional<lock::Lock>& earlier,
                                               const std::vector<std::string>& components,
                                               const knowledge::Knowledge& knowledge) {
  if (components.empty() || !earlier) {
    return std::optional<lock::Lock>();
  }
  CUKIT_TRY_ASSIGN(const auto* recipes, knowledge.components());
  auto kept = *earlier;
  for (const auto& name : components) {
    const auto* component = knowledge::find_component(*recipes, name);
    const bool is_release =
        name == k_release || (component != nullptr && component->follows == "core");
    const bool is_carried = !comes_with(*earlier, name, *recipes).empty();
    if (name != k_release && !is_carried && !forget(kept, name)) {
      std::vector<std::string> known{std::string(k_release)};
      for (const auto& platform : earlier->platforms) {
        for (const auto& artifact : platform.artifacts) {
          known.push_back(is_part(artifact) ? std::string(k_ptxas) : artifact.component);
        }
      }
      const auto near = did_you_mean(name, known);
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::usage,
                .message = fmt::format("the lock holds no `{}` that could be upgraded", name),
                .hint = near.empty() ? "name one of its components, `ptxas` or `cuda`"
                                     : fmt::format("did you mean `{}`?", near)});
    }
    if (is_release) {
      kept.release = Version();
    }
  }
  return std::optional<lock::Lock>(std::move(kept));
}

} // namespace cukit::pipeline
