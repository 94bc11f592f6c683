// A toolkit's variables as text: lines that a shell evaluates, JSON, or NAME=VALUE. Files that
// others read, at another time, are export/variable_files.hpp's.
#pragma once

#include "exports/environment.hpp"

namespace cukit::exports {

enum class Shell {
  sh, ///< POSIX, bash, zsh
  fish,
  csh, ///< and tcsh
  json,
  plain
}; ///< plain: NAME=VALUE lines for env files; lists have the caller's own part in them
Result<Shell> parse_shell(std::string_view name);
bool is_evaluated(Shell shell); ///< its lines are for a shell, not for a file
/// One word of sh, csh or fish that stands for `value`, whatever is in it.
[[nodiscard]] std::string quoted(Shell shell, std::string_view value);
/// Why the variables cannot be written in that form, or empty: csh and plain lines hold no line
/// end.
[[nodiscard]] std::string why_no_line(const ToolkitEnvironment& environment, Shell shell,
                                      const Environment& current);

/// In a shell the lines take back what an earlier toolkit had set, so that twice is once; `current`
/// is looked at for what leads elsewhere. A venv that is active gives its variables back when it is
/// deactivated (bash, zsh, fish).
std::string print(const ToolkitEnvironment& environment, Shell shell, const Environment& current);
/// Lines for sh that stand in /etc/profile.d: nothing of whoever wrote them is in them, and JIT
/// caches are in the folder of each user.
std::string print_profile(const ToolkitEnvironment& environment);
/// What takes it back: for sh and fish it needs no `current`.
std::string print_unset(Shell shell, const Environment& current);
/// Names of `environment` that a shell cannot set: only json, plain and `cukit run` have them.
std::vector<std::string> names_beyond_shells(const ToolkitEnvironment& environment);

} // namespace cukit::exports
