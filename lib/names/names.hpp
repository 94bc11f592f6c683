// A name points at a tree through generations: names/<name>/gen/<n>/{tree,lock,report}, and
// `current -> gen/<n>` is the only switch. It is for people and `cukit run`; scripts get the
// immutable path of the tree.
#pragma once

#include "store/layout.hpp"

#include <optional>

namespace cukit::names {

struct Generation {
  int number = 0;
  std::string tree;   ///< id (hexadecimal)
  std::string lock;   ///< text of the lock it was built from
  std::string report; ///< key of the report, may be empty
};

/// Letters, digits, `.`, `_`, `-`; not starting with a dot; at most 64.
bool is_valid_name(std::string_view name);

/// The names that point somewhere, sorted.
Result<std::vector<std::string>> list(const store::Home& home);
/// Empty when there is no such name.
Result<std::optional<Generation>> current(const store::Home& home, const std::string& name);
/// A new generation (its number is chosen here), made current by one rename; when the current one
/// has the same tree, lock and report nothing is done (false). Needs no lock: of two at once both
/// generations are kept and the later rename is current. A crash leaves the old or the new one
/// current.
Result<bool> switch_to(const store::Home& home, const std::string& name, const Generation& next);

} // namespace cukit::names
