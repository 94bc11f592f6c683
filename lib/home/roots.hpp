// What the generations of all names refer to.
#pragma once

#include "lock/lock.hpp"
#include "names/names.hpp"

#include <map>
#include <memory>
#include <set>

namespace cukit::home {

struct NamedGeneration {
  std::string name;
  names::Generation generation;
  bool current = false;
};

/// By name, oldest first within a name. A generation that cannot be read is an error; with
/// `damaged` it is told there, and the others are given.
Result<std::vector<NamedGeneration>> all_generations(const store::Home& home,
                                                     std::vector<Error>* damaged = nullptr);

struct Roots {
  std::set<std::string> trees;   ///< ids
  std::set<std::string> entries; ///< keys
  std::set<std::string> reports; ///< keys
};
/// Name and number of a generation.
using GenerationId = std::pair<std::string, int>;

/// The roots of the generations that are there now. What a generation refers to never changes, so
/// each is read once however often the roots are asked for.
class RootsMemory {
public:
  /// Without those that are about to go. A lock that this cukit cannot read is an error: nobody
  /// could say what it needs.
  Result<Roots> read(const store::Home& home, const std::set<GenerationId>& without = {});

private:
  using Keys = std::shared_ptr<const std::set<std::string>>;
  struct Known {
    std::string stamp; ///< of the generation's folder: another one may come under its number
    Keys entries;
    std::string tree;
    std::string report;
  };
  std::map<GenerationId, Known> known_;
  std::map<std::string, Keys> by_lock_; ///< by the text's digest: many generations have equal locks
};

/// Adds the keys under which the store may hold what a lock needs, on all of its platforms.
void add_keys(const lock::Lock& lock, std::set<std::string>& keys);

} // namespace cukit::home
