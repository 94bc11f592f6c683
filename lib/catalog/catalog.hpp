// What exists: the wheels that a Python index offers, and the cuda-toolkit metapackages that pin them to a release.
#pragma once

#include "base/sha256.hpp"
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
  std::string file;       ///< nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
  std::string project;    ///< normalised: nvidia-cuda-nvcc
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
  Version version;             ///< 13.0.2
  WheelFile file;
  std::vector<Requirement> requirements;
};

/// A value: resolve() works on it without a network.
struct Catalog {
  std::map<std::string, std::vector<WheelFile>> projects; ///< by normalised name; files by version, then name
  std::vector<MetaRelease> releases;                      ///< by version, ascending; yanked and pre-releases left out
  std::vector<std::string> notes;                         ///< what was left out and why
};

/// nvidia_cuda_nvcc-13.0.88-py3-none-manylinux_2_17_x86_64.whl -> its parts; empty when it is no Linux or `any` wheel's name.
std::optional<WheelFile> parse_wheel_name(std::string_view file);
std::string normalised_project(std::string_view name); ///< PEP 503

/// A simple page: PEP 691 JSON or PEP 503 HTML, told by the content type. Hostile pages are errors (code source).
Result<std::vector<WheelFile>> parse_simple_page(std::string_view body, const std::string& content_type,
                                                 const std::string& page_url, const std::string& project);

} // namespace cukit::catalog
