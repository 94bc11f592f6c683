// What makes every consumer use one tree: variables to set, and what of a caller's own environment
// leads elsewhere. Taking it back restores what was there.
#pragma once

#include "assemble/assemble.hpp"
#include "knowledge/knowledge.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cukit::exports {

using Joins = knowledge::SetVariable::Joins;
using Variable = knowledge::SetVariable; ///< its value filled in

struct Request {
  fs::path tree;         ///< immutable path
  fs::path seen_at = {}; ///< where its files are now, when it is to stand elsewhere; else empty
  std::string id = {};
  std::vector<GpuTarget> gpus = {};
  std::vector<std::string> consumers = {}; ///< variables of these alone; empty: of all known
  /// Consumers that are there for certain. Flags that share a variable with a user's own are set
  /// for them alone.
  std::vector<std::string> named = {};
  /// Versions of consumers, where they are known: their recipes then are those of that version.
  std::map<std::string, Version> versions = {};
  std::optional<Version> ptxas = {}; ///< the tree's; a consumer that cannot take it keeps its own
  fs::path jit = {};                 ///< folder for JIT caches of this tree
  std::string host_compiler = {};    ///< C++ compiler that the toolkit is pinned to; may be empty
};

struct ToolkitEnvironment {
  fs::path tree;
  fs::path jit; ///< where the values that name a JIT cache begin; its last part is the tree's id
  std::vector<Variable> set;
  knowledge::Reach reach;          ///< a caller's variables that may lead elsewhere
  bool pins_host_compiler = false; ///< then no flag of the caller may name another one
};
/// Why no variable can name a tree below that folder, or empty: PATH and its like part folders by
/// colons and have no escape for one.
[[nodiscard]] std::string why_unnameable(const fs::path& folder);

Result<ToolkitEnvironment> environment(const Request& request,
                                       const knowledge::Knowledge& knowledge);

/// A variable of a caller that leads into another toolkit.
struct Removal {
  std::string name;
  std::optional<std::string> rest; ///< what of its value stays; nothing: it is unset
  std::string led_to;              ///< the part that goes
};
/// Looks at the file system to tell a toolkit from a folder of the caller's own. A path that is not
/// there counts as a toolkit's when it is called like one.
std::vector<Removal> removals(const ToolkitEnvironment& environment, const Environment& current);

/// `base` with the variables applied, whatever an earlier one had set taken back: what `cukit run`
/// gives its child. Twice is once.
Environment apply(const ToolkitEnvironment& environment, Environment base);
/// `base` as it was before; unchanged when nothing was applied to it. Of PATH only the tree's own
/// part goes, since others change it too.
Environment take_back(Environment base);

// The record that applying leaves in the environment, for taking it back: the tree, the names that
// were set or removed, and the values that some of them had.
constexpr const char* k_tree_variable = "CUKIT_ENV_TREE";
constexpr const char* k_names_variable = "CUKIT_ENV_NAMES"; ///< parted by spaces
constexpr const char* k_old_prefix = "CUKIT_ENV_OLD_";

} // namespace cukit::exports
