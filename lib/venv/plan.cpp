#include "venv/plan.hpp"

#include "base/strings.hpp"
#include "venv/layout.hpp"

#include <algorithm>
#include <set>

namespace cukit::venv {

namespace {

const std::set<std::string>& compiler_components() {
  static const std::set<std::string> names{"nvcc", "nvvm", "crt", "cudart", "cccl"};
  return names;
}

tl::unexpected<Error> no(const Inventory& inventory, std::string message,
                         std::vector<std::string> causes = {}) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::expected_no,
            .message = std::move(message),
            .where = inventory.place.prefix.string(),
            .causes = std::move(causes),
            .hint = fmt::format("a toolkit beside it changes no package: `cukit up MANIFEST`, then "
                                "`cukit venv wire {} TOOLKIT`",
                                printable(inventory.place.prefix.string()))});
}

/// Distributions of which files are gone or have other bytes, with the state of the first.
std::map<std::string, FileState> damaged(const Inventory& inventory) {
  std::map<std::string, FileState> result;
  for (const auto& folder : inventory.folders) {
    for (const auto& file : folder.odd) {
      if (file.state != FileState::clobbered && file.state != FileState::missing) {
        continue;
      }
      for (const auto& owner : file.owners) {
        if (owner != file.bytes_of) {
          result.emplace(owner, file.state);
        }
      }
    }
  }
  return result;
}

/// Where the compiler's wheels lie, else where torch does.
fs::path site_of(const Inventory& inventory) {
  for (const char* project : {"nvidia-cuda-nvcc", "nvidia-cuda-runtime", "torch"}) {
    if (const auto* dist = inventory.find(project)) {
      return dist->site;
    }
  }
  return inventory.place.sites.front();
}

class Planner {
public:
  Planner(const Inventory& inventory, const std::vector<knowledge::Component>& components,
          const Version& release)
      : inventory_(inventory), components_(components), damaged_(damaged(inventory)) {
    plan_.release = release;
    plan_.site = site_of(inventory);
  }

  Result<Plan> take(const lock::PlatformLock& wheels) {
    const auto* nvcc = find_nvcc(wheels);
    if (nvcc == nullptr) {
      return no(inventory_, "the lock holds no wheel of a whole nvcc");
    }
    for (const auto& artifact : wheels.artifacts) {
      CUKIT_TRY(add(artifact, nvcc->version));
    }
    plan_.root = nvcc->root;
    plan_.makes_layout = !plan_.changes.empty() || lacks_layout(plan_.site / plan_.root);
    return std::move(plan_);
  }

private:
  static const lock::Artifact* find_nvcc(const lock::PlatformLock& wheels) {
    for (const auto& artifact : wheels.artifacts) {
      if (artifact.component == "nvcc" && artifact.source == "wheels" && artifact.take.empty()) {
        return &artifact;
      }
    }
    return nullptr;
  }

  [[nodiscard]] const Pin* forbids(const std::string& project, const Version& version) const {
    const auto found =
        std::find_if(inventory_.pins.begin(), inventory_.pins.end(), [&](const Pin& pin) {
          return pin.project == project && !pin.range.contains(version, true);
        });
    return found == inventory_.pins.end() ? nullptr : &*found;
  }

  Result<void> add(const lock::Artifact& artifact, const Version& nvcc) {
    const auto* component = knowledge::find_component(components_, artifact.component);
    const bool is_wanted = component != nullptr && artifact.source == "wheels" &&
                           artifact.take.empty() && !artifact.record;
    if (!is_wanted) {
      return {}; // a part of a wheel, or none: nothing that pip knows
    }
    const auto project = component->project_of(nvcc);
    const auto* dist = inventory_.find(project);
    if (dist == nullptr && !compiler_components().contains(component->name)) {
      return {};
    }
    const auto installed =
        dist == nullptr ? tl::unexpected<Error>(Error{}) : Version::parse(dist->version);
    const bool is_core = component->follows == "core";
    const bool may_stay =
        installed && (is_core                             ? *installed == artifact.version
                      : artifact.version.same_minor(nvcc) ? installed->same_minor(nvcc)
                                                          : true);
    const auto hurt = damaged_.find(project);
    if (may_stay && hurt == damaged_.end()) {
      plan_.kept.push_back({project, dist->version, is_core ? "it is of that nvcc" : "it fits"});
      return {};
    }
    if (may_stay && *installed != artifact.version) {
      return no(inventory_, fmt::format("{} {} is damaged, and the lock has {}", project,
                                        dist->version, artifact.version.text()));
    }
    if (const auto* pin = forbids(project, artifact.version)) {
      return no(inventory_,
                fmt::format("{} {} cannot come: {} wants {}", project, artifact.version.text(),
                            pin->because.empty() ? pin->by : pin->because, pin->text));
    }
    std::string why = dist == nullptr ? fmt::format("nvcc {} needs it", nvcc.text())
                      : may_stay      ? fmt::format("files of it are {}", name_of(hurt->second))
                      : is_core       ? fmt::format("it is not of nvcc {}", nvcc.text())
                                      : fmt::format("it is not of CUDA {}", nvcc.major_minor());
    if (component->name == "nvcc" && !may_stay) {
      why = dist == nullptr ? std::string("there is no compiler")
                            : fmt::format("it is not that of CUDA {}", plan_.release.text());
    }
    plan_.bytes += artifact.size;
    plan_.changes.push_back({project, dist == nullptr ? std::string() : dist->version,
                             artifact.version, std::move(why), artifact});
    return {};
  }

  const Inventory& inventory_;
  const std::vector<knowledge::Component>& components_;
  std::map<std::string, FileState> damaged_;
  Plan plan_;
};

} // namespace

Result<Plan> plan(const Inventory& inventory, const knowledge::Knowledge& knowledge,
                  const lock::Lock& lock, const lock::PlatformLock& wheels) {
  CUKIT_TRY_ASSIGN(const auto* components, knowledge.components());
  return Planner(inventory, *components, lock.release).take(wheels);
}

} // namespace cukit::venv
