// Where a Python environment keeps its modules, whatever made it: venv, virtualenv, uv, Poetry,
// conda and its kin, a system's own Python, or a folder that `pip install --target` filled.
#pragma once

#include "base/files.hpp"

#include <string>
#include <vector>

namespace cukit::venv {

enum class Kind {
  venv,   ///< pyvenv.cfg
  conda,  ///< conda-meta
  system, ///< lib/python3.X with neither
  target, ///< a folder of modules alone: nothing in it starts with Python
};
std::string_view name_of(Kind kind);

struct Place {
  fs::path prefix; ///< absolute, as it was named; of Kind::target the folder itself
  Kind kind = Kind::venv;
  /// Folders of modules (site-packages, dist-packages) without links, no two the same.
  std::vector<fs::path> sites = {};
  /// A venv that sees the modules of its base too, which are not its own to change.
  bool sees_base = false;
  std::vector<std::string> notes = {}; ///< what is unusual, one sentence each
  [[nodiscard]] fs::path state() const { return prefix / ".cukit-venv"; }
};

/// Takes the folder of an environment, its site-packages, or its python. Code usage when there is
/// no environment.
Result<Place> find_place(const fs::path& path);

/// Code host, with the reason, when this user may not change what is in `folder`, or it lies
/// outside of the environment: a change there would reach others.
Result<void> check_changeable(const Place& place, const fs::path& folder);

} // namespace cukit::venv
