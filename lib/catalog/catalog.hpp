// What exists: the wheels that a Python index offers, the cuda-toolkit metapackages that pin them
// to a release, and the manifests of NVIDIA's redistributables.
#pragma once

#include "base/sha256.hpp"
#include "catalog/redist.hpp"
#include "catalog/requirement.hpp"
#include "model/platform.hpp"
#include "model/version.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cukit::catalog {

/// A wheel file as an index page tells it.
struct WheelFile {
  std::string file;    ///< nvidia_cuda_nvcc-13.0.88-py3-none-manylinux_2_17_x86_64.whl
  std::string project; ///< normalised: nvidia-cuda-nvcc
  Version version;
  std::uint64_t size = 0; ///< 0: the page did not say
  std::optional<Sha256> sha256;
  bool yanked = false;
  std::string yanked_why;
  std::string upload_time; ///< ISO 8601, may be empty
  std::string url;         ///< absolute, or a local path
  std::string machine;     ///< x86_64, aarch64, or "any"
  std::string glibc;       ///< "2.17": least glibc of its best tag; empty for any
};

/// A release of CUDA as its metapackage states it.
struct MetaRelease {
  Version version; ///< 13.0.2
  WheelFile file;
  std::vector<Requirement> requirements;
};

/// A value: resolve() works on it without a network.
struct Catalog {
  /// By normalised name; files by version, then name. Yanked files and pre-releases are in it,
  /// marked: whoever chooses must not take them unasked.
  std::map<std::string, std::vector<WheelFile>> projects;
  std::vector<MetaRelease> releases;     ///< by version, ascending; no yanked one, no pre-release
  std::vector<RedistManifest> manifests; ///< of all products, by product, then label
  bool redist_was_asked = false;         ///< else `manifests` being empty says nothing
  std::vector<std::string> notes;        ///< what was left out and why
};

/// The parts of a wheel's name (binary distribution format of the PyPA); empty when it is no name
/// of a wheel for Linux on x86_64 or aarch64, or for any platform.
std::optional<WheelFile> parse_wheel_name(std::string_view file);
bool is_project_name(std::string_view name); ///< PEP 508

/// A simple page: PEP 691 JSON or PEP 503 HTML, told by the content type. Files of other projects
/// and names that are no Linux wheel's are left out; an empty `project` keeps all projects. Hostile
/// pages, and pages that are none, are errors (code source).
Result<std::vector<WheelFile>> parse_simple_page(std::string_view body,
                                                 const std::string& content_type,
                                                 const std::string& page_url,
                                                 const std::string& project);

} // namespace cukit::catalog
