// What looking at a machine needs to know of the consumers of CUDA; their names and habits are data
// that comes from outside.
#pragma once

#include "base/environment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cukit::survey {

/// A folder where a consumer keeps what it compiled.
struct CachePlace {
  std::string consumer = {};
  std::string variable = {}; ///< names the folder; may be empty
  std::string usual = {};    ///< below HOME, where the variable is not set
  std::string below = {};    ///< below either
  std::vector<std::string> entries =
      {};                     ///< patterns below that, * for one folder: */*/cached_ops/*
  bool holds_kernels = false; ///< PTX and cubins alone; else build.ninja and libraries
};

/// Parts of a toolkit that a consumer's own wheel brings, below a site-packages folder.
struct Bundle {
  std::string folder = {};                ///< holds an include folder, perhaps
  std::vector<std::string> programs = {}; ///< below the folder: bin/ptxas
  std::vector<std::string> packages = {}; ///< distributions that bring it
};

struct Clues {
  std::vector<std::string> variables = {}; ///< kept in a snapshot; * at the end for any beginning
  std::vector<std::string> roots = {};     ///< variables that name a folder or file of a toolkit
  std::vector<std::string> programs = {};  ///< variables that name one of its programs
  std::vector<std::string> folders = {};   ///< variables that list its folders
  std::vector<std::string> flags = {};     ///< variables with words for a compiler
  std::vector<std::string> packages = {};  ///< distributions that concern CUDA; * as above
  std::vector<std::string> conda_packages = {}; ///< further ones that are told of; * as above
  std::vector<CachePlace> caches = {};
  std::vector<Bundle> bundles = {};
};

/// The folder of a cache as the consumer would take it in this environment.
[[nodiscard]] std::string cache_folder(const CachePlace& place, const Environment& environment);
/// `name` as a pattern has it, whose * at the end stands for any rest.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

} // namespace cukit::survey
