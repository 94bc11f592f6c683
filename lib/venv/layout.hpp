// What wheels of CUDA lack of a toolkit's layout, as files of a small distribution of cukit's, so
// that `pip uninstall cukit-cuda-layout` takes them away again.
#pragma once

#include "base/files.hpp"
#include "model/platform.hpp"

#include <map>
#include <string>
#include <vector>

namespace cukit::venv {

constexpr const char* k_layout_project = "cukit-cuda-layout";

struct LayoutFile {
  std::string path; ///< below site-packages
  std::string link; ///< target of a link; empty: `bytes`
  std::string bytes;
};

/// lib64, a plain name for each versioned library, libnvvm where nvlink looks for it, and a libcuda
/// to link with. `files` are those of `root` (nvidia/cu13) by their path below site-packages, with
/// where their bytes are; what is there already is not made.
Result<std::vector<LayoutFile>> layout_for(const std::map<std::string, fs::path>& files,
                                           const std::string& root, Platform platform);

/// Whether a toolkit in that folder lacks any of it.
bool lacks_layout(const fs::path& folder);

/// METADATA and WHEEL of the distribution.
std::string layout_metadata(const std::string& version);
std::string layout_wheel();

} // namespace cukit::venv
