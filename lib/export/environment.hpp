// What `cukit env` prints: the variables that make every consumer use one tree, for a shell or as
// JSON.
#pragma once

#include "assemble/assemble.hpp"
#include "knowledge/knowledge.hpp"

#include <string>
#include <vector>

namespace cukit::exports {

struct Variable {
  std::string name;
  std::string value;
  bool prepend = false; ///< to a list separated by colons that may exist (PATH)
  std::string why;
};

struct Request {
  fs::path tree; ///< immutable path
  std::vector<GpuTarget> gpus;
  std::vector<std::string> consumers; ///< empty: all known
  fs::path jit;                       ///< folder for JIT caches of this tree
};

/// Variables to set, and names to unset because they would point into another toolkit.
struct ToolkitEnvironment {
  std::vector<Variable> set;
  std::vector<std::string> unset;
};
/// Why no variable can name a tree below that folder, or empty: PATH and its like part folders by
/// colons and have no escape for one.
[[nodiscard]] std::string why_unnameable(const fs::path& folder);

Result<ToolkitEnvironment> environment(const Request& request,
                                       const knowledge::Knowledge& knowledge);

enum class Shell {
  sh,
  fish,
  json,
  plain
}; ///< plain: NAME=VALUE lines for env files (prepends are expanded from `current_path`)
/// Why the variables cannot be written as Shell::plain, or empty.
[[nodiscard]] std::string why_no_line(const ToolkitEnvironment& environment,
                                      const Environment& current);
Result<Shell> parse_shell(std::string_view name);
std::string print(const ToolkitEnvironment& environment, Shell shell, const Environment& current);
/// `base` with the variables applied: what `cukit run` gives its child.
Environment apply(const ToolkitEnvironment& environment, Environment base);

} // namespace cukit::exports
