// pip's configuration files, in pip's own order: global, then per user, then of the environment
// (site), then PIP_CONFIG_FILE; a later file overrides an earlier one, [install] overrides
// [global].
#pragma once

#include "source/stated.hpp"

namespace cukit::source {

/// The files pip would read, least important first; most do not exist.
std::vector<fs::path> pip_config_files(const Environment& environment, const fs::path& root);

/// What those files state together.
Result<Stated> read_pip_config(const Environment& environment, const fs::path& root);

/// What one file states; `text` is its content.
Result<Stated> stated_by_pip_config(std::string_view text, const std::string& file);

} // namespace cukit::source
