// How a text is written so that a reader takes every byte of it as it is. Line ends are the
// caller's to refuse where a form cannot hold them.
#pragma once

#include "exports/environment.hpp"

#include <string>
#include <string_view>

namespace cukit::exports {

/// A name that shells can set.
bool is_shell_name(std::string_view name);

/// `!` is looked at within quotes too.
std::string quoted_csh(std::string_view value);
/// Between double quotes, each of `special` behind a backslash.
std::string quoted_twice(std::string_view value, std::string_view special);

/// A line of sh that sets the variable, joined with what it holds there.
std::string set_sh(const Variable& variable);

/// A value that lies in the JIT caches of whoever asked, as a path below any user's cache folder
/// (cukit/jit/ID/...); nothing for other values.
std::optional<std::string> below_user_cache(const ToolkitEnvironment& environment,
                                            const Variable& variable);

} // namespace cukit::exports
