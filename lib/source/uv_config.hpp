// uv's configuration outside projects: uv.toml of the user, then of the system; or UV_CONFIG_FILE
// alone. The table [pip] counts as for `uv pip install`.
#pragma once

#include "source/stated.hpp"

namespace cukit::source {

/// The files uv would read, most important first; most do not exist.
std::vector<fs::path> uv_config_files(const Environment& environment, const fs::path& root);

/// What those files state together: the first that says something about a key wins, lists are
/// joined.
Result<Stated> read_uv_config(const Environment& environment, const fs::path& root);

/// What one file states; `text` is its content. Paths are relative to the file's folder.
Result<Stated> stated_by_uv_config(std::string_view text, const std::string& file);

} // namespace cukit::source
