// Files that point build systems at a tree: what is found by environment variables there is stated
// instead, with the tree's immutable path. A path that a format cannot hold is refused.
#pragma once

#include "exports/environment.hpp"

#include <map>
#include <string>
#include <string_view>

namespace cukit::exports {

enum class BuildSystem { cmake, meson, bazel, pkg_config };
std::optional<BuildSystem> parse_build_system(std::string_view name);

struct BuildFilesRequest {
  fs::path tree;
  Version release;
  std::vector<GpuTarget> gpus = {};
  std::string host_compiler = {}; ///< that nvcc must be given; empty: it takes its own
  std::string title = {};         ///< for a comment
};

/// Files by name. CMake: a toolchain file, and presets to be included; Meson: a native file; Bazel:
/// lines for .bazelrc; pkg-config: one file for each library of the tree.
Result<std::map<std::string, std::string>> build_files(const BuildFilesRequest& request,
                                                       BuildSystem system);
/// How they are used, one line.
std::string how_to_use(BuildSystem system, const fs::path& tree, const fs::path& folder);

} // namespace cukit::exports
