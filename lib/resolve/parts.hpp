// Which components a manifest brings: its components and groups, what its consumers need, and what
// those need in turn.
#pragma once

#include "manifest/manifest.hpp"
#include "resolve/facts.hpp"

#include <set>

namespace cukit::resolve {

/// A wish of the manifest that brings a component.
struct Bringer {
  enum class Kind { toolkit, component, group, consumer, fixed };
  Kind kind = Kind::fixed; ///< fixed: no wish, as the core where the manifest names no component
  std::size_t index = 0;   ///< in Manifest::components or Manifest::consumers
};

struct Part {
  const knowledge::Component* component = nullptr;
  bool whole = false;            ///< else its headers alone
  bool named = false;            ///< asked for by its own name: its absence is never passed over
  std::string why;               ///< as the lock has it: "group core"
  std::vector<Bringer> bringers; ///< each of them alone would bring it
};

/// By component name, which is also the order of the lock.
Result<std::vector<Part>> parts(const manifest::Manifest& manifest, const Facts& facts);

/// Platforms of the manifest, else this machine's; sorted, no two equal.
std::vector<Platform> platforms(const manifest::Manifest& manifest);

} // namespace cukit::resolve
