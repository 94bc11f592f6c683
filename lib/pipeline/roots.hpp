// What the generations of all names refer to.
#pragma once

#include "lock/lock.hpp"
#include "names/names.hpp"

#include <map>
#include <set>

namespace cukit::pipeline {

struct NamedGeneration {
  std::string name;
  names::Generation generation;
  bool current = false;
};

/// By name, oldest first within a name.
Result<std::vector<NamedGeneration>> all_generations(const store::Home& home);

struct Roots {
  std::set<std::string> trees;   ///< ids
  std::set<std::string> entries; ///< keys
  std::set<std::string> reports; ///< keys
};
/// A lock that this cukit cannot read is an error: nobody could say what it needs.
Result<Roots> roots_of(const std::vector<NamedGeneration>& generations);

/// Adds the keys under which the store may hold what a lock needs, on all of its platforms.
void add_keys(const lock::Lock& lock, std::set<std::string>& keys);

} // namespace cukit::pipeline
