// A toolkit's variables as text: lines that a shell evaluates, JSON, or NAME=VALUE.
#pragma once

#include "export/environment.hpp"

namespace cukit::exports {

enum class Shell {
  sh, ///< POSIX, bash, zsh
  fish,
  json,
  plain
}; ///< plain: NAME=VALUE lines for env files; lists have the caller's own part in them
Result<Shell> parse_shell(std::string_view name);
/// Why the variables cannot be written as Shell::plain, or empty.
[[nodiscard]] std::string why_no_line(const ToolkitEnvironment& environment,
                                      const Environment& current);

/// In a shell the lines take back what an earlier toolkit had set, so that twice is once; `current`
/// is looked at for what leads elsewhere. A venv that is active gives its variables back when it is
/// deactivated (bash, zsh, fish).
std::string print(const ToolkitEnvironment& environment, Shell shell, const Environment& current);
/// What takes it back: for a shell it needs no `current`.
std::string print_unset(Shell shell, const Environment& current);
/// Names of `environment` that a shell cannot set: only json, plain and `cukit run` have them.
std::vector<std::string> names_beyond_shells(const ToolkitEnvironment& environment);

} // namespace cukit::exports
