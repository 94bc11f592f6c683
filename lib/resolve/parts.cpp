#include "resolve/parts.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

constexpr std::string_view k_default_group = "core";

/// Reasons in the order of preference: a lock names one, and which one must not depend on the order
/// of a list.
enum class Rank { toolkit, component, group, consumer, need };

struct Entry {
  Part part;
  Rank rank = Rank::need;
};

class Closure {
public:
  explicit Closure(const Facts& facts) : facts_(facts) {}

  /// A component by name, or every member of a group; what a component needs comes along where it
  /// is wanted whole.
  Result<void> add(std::string_view name, bool whole, Rank rank, const std::string& why,
                   Bringer bringer) {
    if (const auto group = facts_.groups->find(std::string(name)); group != facts_.groups->end()) {
      for (const auto& member : group->second) {
        const bool is_own = rank == Rank::component || rank == Rank::group;
        CUKIT_TRY(add_component(member, whole, is_own ? Rank::group : rank,
                                is_own ? fmt::format("group {}", name) : why, bringer));
      }
      return {};
    }
    return add_component(name, whole, rank, why, bringer);
  }

  std::vector<Part> take() {
    std::vector<Part> result;
    for (auto& [name, entry] : entries_) {
      result.push_back(std::move(entry.part));
    }
    return result;
  }

private:
  Result<void> add_component(std::string_view name, bool whole, Rank rank, const std::string& why,
                             Bringer bringer) {
    CUKIT_TRY_ASSIGN(const auto* component, facts_.component(name));
    const bool takes_all = whole || component->headers.empty();
    auto [place, is_new] = entries_.try_emplace(component->name);
    Entry& entry = place->second;
    const auto seen =
        std::tuple(component->name, takes_all, static_cast<int>(bringer.kind), bringer.index);
    entry.part.component = component;
    entry.part.whole = entry.part.whole || takes_all;
    entry.part.named = entry.part.named || rank == Rank::toolkit || rank == Rank::component;
    if (is_new || rank < entry.rank || (rank == entry.rank && why < entry.part.why)) {
      entry.rank = rank;
      entry.part.why = why;
    }
    if (!seen_.insert(seen).second) {
      return {};
    }
    entry.part.bringers.push_back(bringer);
    if (takes_all) {
      for (const auto& need : component->needs) {
        CUKIT_TRY(
            add(need, true, Rank::need, fmt::format("needed-by {}", component->name), bringer));
      }
    }
    return {};
  }

  const Facts& facts_;
  std::map<std::string, Entry> entries_;
  std::set<std::tuple<std::string, bool, int, std::size_t>> seen_;
};

Result<void> add_toolkit(Closure& closure, const manifest::Manifest& manifest) {
  const Bringer bringer{.kind = Bringer::Kind::toolkit};
  if (manifest.nvcc) {
    CUKIT_TRY(closure.add(k_nvcc, true, Rank::toolkit, "manifest toolkit.nvcc", bringer));
  }
  if (manifest.ptxas) { // a part of nvcc's package, useless without the rest
    CUKIT_TRY(closure.add(k_nvcc, true, Rank::need, "needed-by ptxas", bringer));
  }
  if (manifest.headers) {
    CUKIT_TRY(closure.add(k_cudart, true, Rank::toolkit, "manifest toolkit.headers", bringer));
  }
  if (manifest.cccl) {
    CUKIT_TRY(closure.add(k_cccl, true, Rank::toolkit, "manifest toolkit.cccl", bringer));
  }
  return {};
}

} // namespace

Result<std::vector<Part>> parts(const manifest::Manifest& manifest, const Facts& facts) {
  Closure closure(facts);
  CUKIT_TRY(add_toolkit(closure, manifest));
  if (manifest.components.empty()) {
    CUKIT_TRY(closure.add(k_default_group, true, Rank::group,
                          fmt::format("group {}", k_default_group), Bringer{}));
  }
  for (std::size_t i = 0; i < manifest.components.size(); ++i) {
    const auto& name = manifest.components[i].value;
    const bool is_group = facts.groups->contains(name);
    CUKIT_TRY(closure.add(
        name, true, Rank::component, "manifest components",
        Bringer{.kind = is_group ? Bringer::Kind::group : Bringer::Kind::component, .index = i}));
  }
  for (std::size_t i = 0; i < manifest.consumers.size(); ++i) {
    const auto* consumer = facts.consumer(manifest.consumers[i].value);
    if (consumer == nullptr) {
      return fail(ErrorCode::usage, "the recipes know no consumer `{}`",
                  manifest.consumers[i].value);
    }
    const Bringer bringer{.kind = Bringer::Kind::consumer, .index = i};
    const auto why = fmt::format("needed-by {}", consumer->name);
    for (const auto& need : consumer->needs) {
      CUKIT_TRY(closure.add(need, true, Rank::consumer, why, bringer));
    }
    for (const auto& header : consumer->headers) {
      CUKIT_TRY(closure.add(header, false, Rank::consumer, why, bringer));
    }
  }
  return closure.take();
}

std::vector<Platform> platforms(const manifest::Manifest& manifest) {
  std::vector<Platform> result;
  for (const auto& wish : manifest.platforms) {
    result.push_back(wish.value);
  }
  if (result.empty()) {
    result.push_back(Platform::host());
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace cukit::resolve
