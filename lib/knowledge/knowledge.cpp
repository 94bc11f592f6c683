#include "knowledge/knowledge.hpp"

#include "knowledge/limits.hpp"
#include "knowledge/parse.hpp"
#include "knowledge/recipes.hpp"

#include <algorithm>
#include <mutex>

namespace cukit::knowledge {

namespace {

/// A value with a lock of its own: one thread may read the components while another reads the rest.
template <typename T> struct Lazy {
  std::mutex mutex;
  std::optional<Result<T>> value;
};

} // namespace

struct Knowledge::State {
  Recipes recipes;
  Lazy<std::vector<Release>> releases;
  Lazy<std::vector<Architecture>> architectures;
  Lazy<std::vector<Product>> products;
  Lazy<std::vector<Component>> components;
  Lazy<Groups> groups;
  Lazy<std::vector<Consumer>> consumers;
  Lazy<CommonVariables> variables;
  Lazy<Limits> limits;
  Lazy<std::vector<PyTorch>> pytorch;
  Lazy<std::map<std::string, Sha256>> pins;
  Lazy<std::vector<ReleaseTable>> tables;
  Lazy<std::vector<TorchRelease>> torch_releases;
  Lazy<std::vector<LeastGlibc>> least_glibc;

  template <typename T>
  Result<T> parse_file(const std::string& path,
                       Result<T> (*parse)(std::string_view, const std::string&)) const {
    CUKIT_TRY_ASSIGN(const auto text, recipes.read(path));
    return parse(text, recipes.display(path));
  }

  /// Names of the files of a folder, without .yaml.
  Result<std::vector<std::string>> names(const std::string& folder) const {
    CUKIT_TRY_ASSIGN(const auto paths, recipes.list(folder));
    std::vector<std::string> result;
    for (const auto& path : paths) {
      const auto name = path.substr(folder.size() + 1);
      if (name.ends_with(".yaml") && name.find('/') == std::string::npos) {
        result.push_back(name.substr(0, name.size() - 5));
      }
    }
    return result;
  }

  /// All files of a folder, each parsed by `parse(text, display name, name)`.
  template <typename T, typename Parse>
  Result<std::vector<T>> parse_folder(const std::string& folder, const Parse& parse) const {
    CUKIT_TRY_ASSIGN(const auto list, names(folder));
    std::vector<T> result;
    for (const auto& name : list) {
      const auto path = folder + "/" + name + ".yaml";
      CUKIT_TRY_ASSIGN(const auto text, recipes.read(path));
      CUKIT_TRY_ASSIGN(auto value, parse(text, recipes.display(path), name));
      result.push_back(std::move(value));
    }
    return result;
  }

  /// The value, made by `make` when it is asked for first.
  template <typename T, typename Make> Result<const T*> lazily(Lazy<T>& lazy, const Make& make) {
    const std::lock_guard lock(lazy.mutex);
    auto& value = lazy.value;
    if (!value) {
      value.emplace(make());
    }
    if (!*value) {
      return tl::unexpected<Error>(value->error());
    }
    return &**value;
  }
};

Knowledge Knowledge::embedded() {
  return Knowledge(std::make_shared<State>());
}

Knowledge Knowledge::from(fs::path folder) {
  auto state = std::make_shared<State>();
  state->recipes = Recipes(std::move(folder));
  return Knowledge(std::move(state));
}

Result<const std::vector<Release>*> Knowledge::releases() const {
  return state_->lazily(state_->releases, [&] {
    return state_->parse_file("knowledge/releases.yaml", parse_releases);
  });
}

Result<const std::vector<Architecture>*> Knowledge::architectures() const {
  return state_->lazily(state_->architectures, [&] {
    return state_->parse_file("knowledge/gpus.yaml", parse_architectures);
  });
}

Result<const std::vector<Product>*> Knowledge::products() const {
  return state_->lazily(state_->products, [&] {
    return state_->parse_file("knowledge/products.yaml", parse_products);
  });
}

Result<const std::vector<Component>*> Knowledge::components() const {
  return state_->lazily(state_->components, [&]() -> Result<std::vector<Component>> {
    CUKIT_TRY_ASSIGN(const auto known, component_names());
    return state_->parse_folder<Component>(
        "components", [&](const auto& text, const auto& display, const auto& name) {
          return parse_component(text, display, name, known);
        });
  });
}

Result<const std::vector<LeastGlibc>*> Knowledge::least_glibc() const {
  return state_->lazily(state_->least_glibc, [&] {
    return state_->parse_file("knowledge/glibc.yaml", parse_least_glibc);
  });
}

Result<const Groups*> Knowledge::groups() const {
  return state_->lazily(state_->groups, [&]() -> Result<Groups> {
    const std::string file = "knowledge/groups.yaml";
    CUKIT_TRY_ASSIGN(const auto known, component_names());
    CUKIT_TRY_ASSIGN(const auto text, read(file));
    return parse_groups(text, display(file), known);
  });
}

Result<const CommonVariables*> Knowledge::variables() const {
  return state_->lazily(state_->variables, [&] {
    return state_->parse_file("knowledge/variables.yaml", parse_variables);
  });
}

Result<const Limits*> Knowledge::limits() const {
  return state_->lazily(state_->limits,
                        [&] { return state_->parse_file("knowledge/limits.yaml", parse_limits); });
}

Result<const std::vector<Consumer>*> Knowledge::consumers() const {
  return state_->lazily(state_->consumers, [&]() -> Result<std::vector<Consumer>> {
    CUKIT_TRY_ASSIGN(const auto* groups_known, groups());
    CUKIT_TRY_ASSIGN(const auto known, component_names());
    return state_->parse_folder<Consumer>(
        "consumers", [&](const auto& text, const auto& display, const auto& name) {
          return parse_consumer(text, display, name, *groups_known, known);
        });
  });
}

Result<const std::vector<PyTorch>*> Knowledge::pytorch() const {
  return state_->lazily(
      state_->pytorch, [&] { return state_->parse_file("knowledge/pytorch.yaml", parse_pytorch); });
}

Result<const std::map<std::string, Sha256>*> Knowledge::pins() const {
  return state_->lazily(state_->pins, [&]() -> Result<std::map<std::string, Sha256>> {
    CUKIT_TRY_ASSIGN(auto all, state_->parse_file("knowledge/pins.sha256", parse_pins));
    CUKIT_TRY_ASSIGN(auto manifests, state_->parse_file("knowledge/redist.sha256", parse_pins));
    all.merge(manifests);
    return all;
  });
}

Result<const std::vector<TorchRelease>*> Knowledge::torch_releases() const {
  return state_->lazily(state_->torch_releases, [&] {
    return state_->parse_file("knowledge/torch-releases.yaml", parse_torch_releases);
  });
}

Result<const std::vector<ReleaseTable>*> Knowledge::tables() const {
  return state_->lazily(state_->tables,
                        [&] { return state_->parse_file("knowledge/versions.txt", parse_tables); });
}

std::string Component::project_of(const Version& cuda) const {
  constexpr std::string_view hole = "{major}";
  auto result = project;
  if (const auto at = result.find(hole); at != std::string::npos) {
    result.replace(at, hole.size(), fmt::format("{}", cuda.major()));
  }
  return result;
}

Result<std::vector<std::string>> Knowledge::component_names() const {
  return state_->names("components");
}

Result<std::vector<std::string>> Knowledge::consumer_names() const {
  return state_->names("consumers");
}

std::string Knowledge::display(const std::string& path) const {
  return state_->recipes.display(path);
}

Result<std::string> Knowledge::read(const std::string& path) const {
  return state_->recipes.read(path);
}

Result<std::vector<std::string>> Knowledge::list(const std::string& folder) const {
  return state_->recipes.list(folder);
}

const Release* find_release(const std::vector<Release>& releases, const Version& version) {
  const auto found = std::find_if(releases.begin(), releases.end(), [&](const auto& release) {
    return release.minor.same_minor(version);
  });
  return found == releases.end() ? nullptr : &*found;
}

const LeastGlibc* find_least_glibc(const std::vector<LeastGlibc>& list, Platform platform,
                                   const Version& cuda) {
  const LeastGlibc* found = nullptr;
  for (const auto& fact : list) {
    if (fact.platform == platform && fact.from <= cuda) {
      found = &fact;
    }
  }
  return found;
}

const Component* find_component(const std::vector<Component>& components, std::string_view name) {
  const auto found = std::find_if(components.begin(), components.end(),
                                  [&](const auto& component) { return component.name == name; });
  return found == components.end() ? nullptr : &*found;
}

const Architecture* find_architecture(const std::vector<Architecture>& architectures,
                                      const GpuTarget& target) {
  const auto found =
      std::find_if(architectures.begin(), architectures.end(),
                   [&](const auto& architecture) { return architecture.target == target.plain(); });
  return found == architectures.end() ? nullptr : &*found;
}

const Consumer& at_version(const Consumer& consumer, const std::optional<Version>& version) {
  if (version) {
    for (const auto& older : consumer.versions) {
      if (older.when.contains(*version, true)) {
        return older;
      }
    }
  }
  return consumer;
}

} // namespace cukit::knowledge
