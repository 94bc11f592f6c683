#include "pipeline/roots.hpp"

namespace cukit::pipeline {

Result<std::vector<NamedGeneration>> all_generations(const store::Home& home) {
  std::vector<NamedGeneration> result;
  CUKIT_TRY_ASSIGN(const auto names, names::list_all(home));
  for (const auto& name : names) {
    // A `current` that leads nowhere makes no generation less of a root.
    const auto current = names::current(home, name);
    const int number = current && *current ? (*current)->number : 0;
    CUKIT_TRY_ASSIGN(auto generations, names::generations(home, name));
    for (auto& generation : generations) {
      const bool is_current = generation.number == number;
      result.push_back({name, std::move(generation), is_current});
    }
  }
  return result;
}

void add_keys(const lock::Lock& lock, std::set<std::string>& keys) {
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      keys.insert(lock::store_key(artifact));
      if (artifact.record) { // a whole artifact serves where only a part is wanted
        keys.insert(artifact.sha256.hex());
      }
    }
  }
}

Result<Roots> roots_of(const std::vector<NamedGeneration>& generations) {
  Roots roots;
  for (const auto& one : generations) {
    roots.trees.insert(one.generation.tree);
    roots.reports.insert(one.generation.report);
    auto lock = lock::read(one.generation.lock,
                           fmt::format("names/{}/gen/{}/lock", one.name, one.generation.number));
    if (!lock) {
      auto error = std::move(lock.error())
                       .under(fmt::format("cannot tell what generation {} of {} needs",
                                          one.generation.number, one.name));
      error.hint =
          "use the cukit that made it, or drop the name with `cukit gc --name " + one.name + "`";
      return tl::unexpected<Error>(std::move(error));
    }
    add_keys(*lock, roots.entries);
  }
  return roots;
}

} // namespace cukit::pipeline
