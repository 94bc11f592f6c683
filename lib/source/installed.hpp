// What the pip or uv of this machine would take when nobody tells it otherwise.
#pragma once

#include "source/source.hpp"

#include <optional>

namespace cukit::source {

/// Runs programs of `environment`'s PATH, from the root folder so that no file of the working
/// folder is imported, with output lines long enough not to be wrapped.
Asker real_asker(const Environment& environment, const std::stop_token& stop);

/// Asks pip, then uv. Nothing when neither is there or answers.
std::optional<Address> default_of_installed(const Asker& ask);

/// The default that a help text states for an option: the URL after "default", however the lines
/// are wrapped. Empty: none.
std::string default_in_help(std::string_view help, std::string_view option);

} // namespace cukit::source
