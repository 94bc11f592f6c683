// Which builds of PyTorch there are and which GPUs each has code for. Facts are those of
// recipes/knowledge/torch-releases.yaml; what is not known there is said as unknown, never guessed.
#pragma once

#include "fit/answer.hpp"
#include "knowledge/knowledge.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cukit::fit {

/// A build of PyTorch as a person names it: 2.8.0+cu128, or one of the two alone.
struct TorchName {
  std::optional<Version> version; ///< without the local part: 2.8.0
  std::string tag;                ///< cu128

  /// "2.8.0+cu128", "cu128" or "2.8.0"; a tag that is none of CUDA (cpu, rocm6.4) is kept as it is.
  static TorchName parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

using TorchReleases = std::vector<knowledge::TorchRelease>;

/// The release of that very version, or of which it is a patch with the same builds; nullptr: not
/// known.
const knowledge::TorchRelease* find_torch(const TorchReleases& releases, const Version& version);

/// Whether PyTorch was published with that tag in that version. Unknown for versions that the
/// recipes do not have, and where version or tag is missing.
Answer torch_build_exists(const TorchReleases& releases, const TorchName& torch);

/// Whether code runs on a GPU: a cubin of its own major and no higher minor, or PTX that its driver
/// compiles. Tegra chips take only cubins of their own.
bool runs_on(const knowledge::CodeFor& code, const GpuTarget& gpu,
             const std::vector<knowledge::Architecture>& architectures);

/// Whether the libraries of that build have code for the GPU on a platform. Of a tag without a
/// version: no, when no version known with that tag has, and all with that tag are known.
Answer torch_has_code(const TorchReleases& releases, const TorchName& torch, const GpuTarget& gpu,
                      Platform platform, const std::vector<knowledge::Architecture>& architectures);

/// What a build was made for, in words: "7.0 7.5 8.0 8.6 9.0 10.0 12.0 and PTX of 12.0"; empty:
/// not known.
std::string torch_code_text(const TorchReleases& releases, const TorchName& torch,
                            Platform platform);

/// Builds that exist and have code for all these GPUs on all these platforms, nearest to `torch`
/// first: the same version with the nearest CUDA, then the nearest version. Of a tag without a
/// version, tags alone.
std::vector<TorchName> nearest_torches(const TorchReleases& releases, const TorchName& torch,
                                       const std::vector<GpuTarget>& gpus,
                                       const std::vector<Platform>& platforms,
                                       const std::vector<knowledge::Architecture>& architectures);

/// 12.8 of cu128; nothing when it is no tag of CUDA.
std::optional<Version> cuda_of_tag(std::string_view tag);

} // namespace cukit::fit
