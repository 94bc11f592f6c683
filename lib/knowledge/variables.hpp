// Variables of the environment by which toolkits are found: what `cukit env` sets, and what of a
// caller's own reaches a compiler.
#pragma once

#include <string>
#include <vector>

namespace cukit::knowledge {

/// A variable that `cukit env` sets. In the value {tree}, {id} and {jit} are replaced: the tree's
/// immutable path, its id, and the folder for JIT caches that belongs to it.
struct SetVariable {
  enum class Joins {
    nothing, ///< stands instead of the caller's value
    before,  ///< goes before the caller's value, with a colon between
    after    ///< goes behind the caller's value, with a space between
  };
  std::string name;
  std::string value;
  Joins joins = Joins::nothing;
};

/// Whether the value is the tree's ptxas: what a consumer that cannot work with it must not be
/// told.
[[nodiscard]] bool names_ptxas(const SetVariable& variable);

/// Variables by which a caller's environment reaches a compiler, by what they hold.
struct Reach {
  std::vector<std::string> roots;    ///< a folder or file of one toolkit
  std::vector<std::string> programs; ///< a command that starts one of a toolkit's tools
  std::vector<std::string> folders;  ///< folders, with colons between
  std::vector<std::string> flags;    ///< words for a compiler, with spaces between
};

/// What belongs to no single consumer: recipes/knowledge/variables.yaml.
struct CommonVariables {
  std::vector<SetVariable> set;
  Reach reach;
  std::vector<std::string> host_compiler; ///< each names the C++ compiler that nvcc is given
  std::vector<std::string> c_compiler;    ///< each names a C compiler that stands for it
  std::vector<std::string> others; ///< of consumers without a recipe; * at the end for any rest
};

} // namespace cukit::knowledge
