// What `venv wire` writes, per shell. Private to venv.
#pragma once

#include "exports/environment.hpp"

#include <optional>
#include <string>

namespace cukit::venv {

enum class HookShell { sh, fish, csh };

/// Lines that set the variables, or say that the toolkit is gone. `off` is a file of lines that
/// take them back, which csh needs: it has no functions. `script` is what they are put behind: its
/// `deactivate` takes them back.
std::string hook_lines(const exports::ToolkitEnvironment& environment, HookShell shell,
                       const std::string& off, std::string_view script);
/// Lines that take back what those set.
std::string unhook_lines(const exports::ToolkitEnvironment& environment, HookShell shell);
/// The one line of the .pth.
std::string always_line(const exports::ToolkitEnvironment& environment);
/// The toolkit that a hook or a .pth names.
std::optional<std::string> tree_in(std::string_view lines);

} // namespace cukit::venv
