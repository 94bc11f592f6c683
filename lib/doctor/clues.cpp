// The recipes as host needs them, which knows no consumer.
#include "doctor/doctor.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using Kind = knowledge::DiscoveryStep::Kind;

class Collector {
public:
  void add(const knowledge::Reach& reach) {
    append(clues_.roots, reach.roots);
    append(clues_.programs, reach.programs);
    append(clues_.folders, reach.folders);
    append(clues_.flags, reach.flags);
    for (const auto* names : {&reach.roots, &reach.programs, &reach.folders, &reach.flags}) {
      append(clues_.variables, *names);
    }
  }
  void add(const knowledge::Consumer& consumer) {
    add(consumer.reach);
    append(clues_.variables, consumer.variables);
    for (const auto& variable : consumer.environment) {
      clues_.variables.push_back(variable.name);
    }
    for (const auto& list : consumer.arch_variables) {
      clues_.variables.push_back(list.name);
    }
    const auto& recipe = consumer.discovery;
    for (const auto* steps : {&recipe.root, &recipe.ptxas, &recipe.ptxas_blackwell}) {
      add(*steps, clues_.roots);
    }
    for (const auto* steps : {&recipe.nvcc, &recipe.nvcc_last}) {
      add(*steps, clues_.programs);
    }
    for (const auto& name : recipe.present) {
      clues_.packages.push_back(name.substr(0, name.find('*')));
    }
    append(clues_.packages, recipe.companions);
    if (recipe.needs_activation) {
      append(clues_.conda_packages, recipe.present);
    }
    add_bundle(consumer);
    clues_.variables.push_back(recipe.gate_variable);
    for (const auto& cache : consumer.caches) {
      clues_.variables.push_back(cache.variable);
      clues_.caches.push_back({.consumer = consumer.name,
                               .variable = cache.variable,
                               .usual = cache.usual,
                               .below = cache.below,
                               .entries = cache.entries,
                               .holds_kernels = cache.holds_kernels});
    }
    for (const auto& older : consumer.versions) {
      add(older.reach);
      add(older.discovery.ptxas, clues_.roots);
      add(older.discovery.ptxas_blackwell, clues_.roots);
    }
  }
  survey::Clues take() { return std::move(clues_); }

private:
  /// The programs are those that the steps of its versions name inside the folder.
  void add_bundle(const knowledge::Consumer& consumer) {
    if (consumer.bundle.empty()) {
      return;
    }
    survey::Bundle bundle{
        .folder = consumer.bundle, .programs = {}, .packages = consumer.discovery.present};
    const auto inside = consumer.bundle + "/";
    const auto take = [&](const knowledge::Discovery& recipe) {
      for (const auto* steps : {&recipe.ptxas, &recipe.ptxas_blackwell}) {
        for (const auto& step : *steps) {
          if (step.kind == Kind::wheel && step.argument.starts_with(inside)) {
            bundle.programs.push_back(step.argument.substr(inside.size()));
          }
        }
      }
    };
    take(consumer.discovery);
    for (const auto& older : consumer.versions) {
      take(older.discovery);
    }
    std::sort(bundle.programs.begin(), bundle.programs.end());
    bundle.programs.erase(std::unique(bundle.programs.begin(), bundle.programs.end()),
                          bundle.programs.end());
    clues_.bundles.push_back(std::move(bundle));
  }
  static void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }
  void add(const std::vector<knowledge::DiscoveryStep>& steps, std::vector<std::string>& names) {
    for (const auto& step : steps) {
      if (step.kind == Kind::variable || step.kind == Kind::include) {
        names.push_back(step.argument);
        clues_.variables.push_back(step.argument);
      } else if (step.kind == Kind::flag) {
        clues_.flags.push_back(step.argument);
        clues_.variables.push_back(step.argument);
      }
    }
  }
  survey::Clues clues_ = {};
};

} // namespace

Result<survey::Clues> clues(const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto* common, knowledge.variables());
  CUKIT_TRY_ASSIGN(const auto* consumers, knowledge.consumers());
  Collector collector;
  collector.add(common->reach);
  for (const auto& consumer : *consumers) {
    collector.add(consumer);
  }
  auto result = collector.take();
  for (const auto* names : {&common->host_compiler, &common->c_compiler, &common->others}) {
    result.variables.insert(result.variables.end(), names->begin(), names->end());
  }
  return result;
}

} // namespace cukit::doctor
