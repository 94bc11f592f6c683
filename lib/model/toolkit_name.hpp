// What a toolkit may be called: one rule for the manifest that gives a name, the folder that is
// called by it, and the command line that is told a word.
#pragma once

#include <string_view>

namespace cukit {

/// For messages: what is_toolkit_name() takes.
constexpr std::string_view k_toolkit_name_rule =
    "up to 64 letters, digits, `.`, `_` and `-`, no `.` or `-` in front, no `.yaml` or `.yml` at "
    "the end";

/// No path, no option and no file of a manifest is spelled like a name.
bool is_toolkit_name(std::string_view text);

/// What a project's manifest is called where nobody chose a name.
inline constexpr const char* k_usual_manifest = "cukit.yaml";

/// A word that ends so is a manifest (or a lock), wherever it lies.
bool is_manifest_file(std::string_view text);

} // namespace cukit
