#include "venv/wheels.hpp"

#include "base/strings.hpp"
#include "fit/parts.hpp"

#include <algorithm>
#include <set>

namespace cukit::venv {

namespace {

using knowledge::Component;
using knowledge::ReleaseTable;

/// What every compiler needs; the rest is taken along where it is installed.
bool is_of_compiler(const Component& component) {
  static const std::set<std::string> names{"nvcc", "nvvm", "crt", "cudart", "cccl"};
  return names.contains(component.name);
}

std::optional<Version> installed_version(const Inventory& inventory, const std::string& project) {
  const auto* dist = inventory.find(project);
  const auto version =
      dist == nullptr ? tl::unexpected<Error>(Error{}) : Version::parse(dist->version);
  return version ? std::optional(*version) : std::nullopt;
}

class Chooser {
public:
  Chooser(const Inventory& inventory, const std::vector<Component>& components)
      : inventory_(inventory), components_(components) {}

  /// What a release would mean here; nothing when a pin forbids it.
  std::optional<WheelSet> of(const ReleaseTable& table) {
    WheelSet set{.release = table.release, .because = {}, .wheels = {}};
    const auto nvcc = table.components.find("nvidia-cuda-nvcc");
    if (nvcc == table.components.end() || forbids("cuda-toolkit", table.release) != nullptr) {
      return std::nullopt;
    }
    for (const auto& component : components_) {
      const auto project =
          component.project.empty() ? std::string() : component.project_of(table.release);
      const auto listed = table.components.find(project);
      const auto installed = installed_version(inventory_, project);
      if (listed == table.components.end() || (!installed && !is_of_compiler(component))) {
        continue;
      }
      auto wheel = choose(component, project, listed->second, installed, nvcc->second);
      if (!wheel) {
        return std::nullopt;
      }
      set.as_released += installed && *installed == listed->second ? 1 : 0;
      set.wheels.push_back(*std::move(wheel));
    }
    std::sort(set.wheels.begin(), set.wheels.end(), [this](const Wheel& a, const Wheel& b) {
      return std::pair(!comes_first(a), a.project) < std::pair(!comes_first(b), b.project);
    });
    return set;
  }

private:
  [[nodiscard]] bool comes_first(const Wheel& wheel) const {
    const auto* component = knowledge::find_component(components_, wheel.component);
    return component != nullptr && is_of_compiler(*component);
  }

  [[nodiscard]] const Pin* forbids(const std::string& project, const Version& version) const {
    for (const auto& pin : inventory_.pins) {
      if (pin.project == project && !pin.range.contains(version, true)) {
        return &pin;
      }
    }
    return nullptr;
  }

  /// Whether what is installed may stay beside that nvcc.
  static bool may_stay(const Component& component, const Version& installed, const Version& listed,
                       const Version& nvcc) {
    if (component.follows == "core") {
      return installed == listed;
    }
    // numbered like nvcc: patches are free
    return listed.same_minor(nvcc) ? installed.same_minor(nvcc) : true;
  }

  std::optional<Wheel> choose(const Component& component, const std::string& project,
                              const Version& listed, const std::optional<Version>& installed,
                              const Version& nvcc) {
    Wheel wheel{.component = component.name,
                .project = project,
                .version = listed,
                .installed = installed ? installed->text() : std::string(),
                .why =
                    component.follows == "core" ? "one version with nvcc" : "of the same release"};
    if (installed && may_stay(component, *installed, listed, nvcc) &&
        forbids(project, *installed) == nullptr) {
      wheel.version = *installed;
      wheel.why = "it fits as it is";
    }
    if (forbids(project, wheel.version) != nullptr) {
      return std::nullopt;
    }
    for (const auto& pin : inventory_.pins) {
      if (pin.project == project) {
        wheel.why = fmt::format("{} pins it", pin.because.empty() ? pin.by : pin.because);
      }
    }
    return wheel;
  }

  const Inventory& inventory_;
  const std::vector<Component>& components_;
};

/// Whether the environment's CUDA is that of a major: by names ending in -cuNN, else by what is
/// installed.
bool is_of_cuda_12(const Inventory& inventory) {
  return inventory.find("nvidia-cuda-runtime") == nullptr &&
         inventory.find("nvidia-cuda-runtime-cu12") != nullptr;
}

tl::unexpected<Error> no(std::string message, const Inventory& inventory, std::string hint) {
  return tl::unexpected<Error>(Error{.code = ErrorCode::expected_no,
                                     .message = std::move(message),
                                     .where = inventory.place.prefix.string(),
                                     .hint = std::move(hint)});
}

std::string hint_for_wire(const Inventory& inventory) {
  return fmt::format("build a toolkit beside it (`cukit init --venv {0}`, `cukit up`), then `cukit "
                     "venv wire {0} TOOLKIT`",
                     printable(inventory.place.prefix.string()));
}

/// The pins on what nvcc has to fit, which no release took together.
Error no_release(const Inventory& inventory) {
  Error error{.code = ErrorCode::expected_no,
              .message = "no release of CUDA has wheels that fit everybody's pins here",
              .where = inventory.place.prefix.string(),
              .hint = hint_for_wire(inventory)};
  for (const auto& pin : inventory.pins) {
    error.causes.push_back(
        fmt::format("{} wants {}", pin.because.empty() ? pin.by : pin.because, pin.text));
  }
  return error;
}

} // namespace

bool Wheel::is_there() const {
  const auto now = Version::parse(installed);
  return now && *now == version;
}

Result<WheelSet> coherent_set(const Inventory& inventory, const knowledge::Knowledge& knowledge) {
  if (is_of_cuda_12(inventory)) {
    return no("the wheels of CUDA 12 hold no nvcc", inventory, hint_for_wire(inventory));
  }
  CUKIT_TRY_ASSIGN(const auto* tables, knowledge.tables());
  CUKIT_TRY_ASSIGN(const auto* limits, knowledge.limits());
  CUKIT_TRY_ASSIGN(const auto* components, knowledge.components());
  Chooser chooser(inventory, *components);
  std::optional<WheelSet> best;
  for (const auto& table : *tables) { // ascending: of equals the newest stays
    if (table.source != "wheels" || table.release.is_prerelease() ||
        fit::compiler_in_wheels(table.release, *limits).is_refused()) {
      continue;
    }
    auto set = chooser.of(table);
    if (set && (!best || set->as_released >= best->as_released)) {
      best = std::move(set);
    }
  }
  if (!best) {
    return tl::unexpected<Error>(no_release(inventory));
  }
  const auto there = best->as_released;
  best->because = there == 0
                      ? "nothing of CUDA is installed, and it is the newest"
                      : fmt::format("{} of its wheels {} here", there, there == 1 ? "is" : "are");
  return *std::move(best);
}

} // namespace cukit::venv
