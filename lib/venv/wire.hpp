// A toolkit of cukit's for a Python environment without touching any package: the scripts that
// activate it set the variables, and take them back when it is deactivated.
#pragma once

#include "exports/environment.hpp"
#include "venv/pin.hpp"

#include <optional>

namespace cukit::venv {

/// Writes the variables into activate, activate.fish and activate.csh between marked lines, or for
/// conda into files of their own in activate.d and deactivate.d. With `always` also a .pth of one
/// line: programs that the environment's python starts without activation get all variables too,
/// unless their caller chose a toolkit. All files or none; what stands there already is left alone,
/// so that twice is once. Of `always`, which is not asked for again, the .pth goes.
///
/// Code host where this user may not write, or would write into a folder that others use; code
/// usage where nothing can be hooked.
Result<std::vector<Written>> wire(const Place& place,
                                  const exports::ToolkitEnvironment& environment, bool always);

/// Every file as it was before; what was never wired is left alone.
Result<std::vector<Written>> unwire(const Place& place);

struct Wiring {
  fs::path tree;               ///< the toolkit that the hooks name
  std::vector<fs::path> files; ///< that have them
  bool always = false;
  bool is_there = true; ///< the toolkit stands, as far as its nvcc tells
};
/// Nothing when the environment is not wired.
Result<std::optional<Wiring>> find_wiring(const Place& place);

} // namespace cukit::venv
