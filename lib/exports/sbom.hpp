// A bill of materials from a lock: one package for each artifact, with its digest, its package URL
// and its licence. Equal locks give equal bytes; nothing is asked of anybody.
#pragma once

#include "lock/lock.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cukit::exports {

enum class SbomFormat { spdx, cyclonedx };
Result<SbomFormat> parse_sbom_format(std::string_view name);

struct SbomRequest {
  const lock::Lock& lock;
  std::vector<Platform> platforms = {}; ///< of these; empty: of all that the lock has
  std::string tool_version;             ///< of cukit
  std::string created;                  ///< RFC 3339
};

/// SPDX 2.3 or CycloneDX 1.5 as JSON. An error of code expected_no names a platform that the lock
/// does not have.
Result<std::string> write_sbom(const SbomRequest& request, SbomFormat format);

/// pkg:pypi/nvidia-cuda-nvcc@13.0.88?file_name=... of a wheel, pkg:generic/cuda_nvcc@... of an
/// archive of NVIDIA's redistributables.
std::string package_url(const lock::Artifact& artifact);

/// What of a lock stands under which licence: one row for each component, version and licence.
struct LicenceRow {
  std::string component;
  std::string version;
  std::string licence;                 ///< as the lock has it
  std::vector<std::string> files = {}; ///< artifacts
};
std::vector<LicenceRow> licences(const lock::Lock& lock);

/// What everything that carries NVIDIA's files says of passing them on.
constexpr std::string_view k_redistribution =
    "The files are NVIDIA's, under the licences below LICENSES/; whether you may pass them on, and "
    "which of them, is what those say.";

} // namespace cukit::exports
