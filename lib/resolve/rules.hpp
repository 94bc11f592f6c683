// What must hold between the parts of a toolkit, and between a toolkit and what it is for: one
// named, pure predicate per rule, over plain values. What goes with what is lib/fit's to say; each
// rule says why it was broken and which public source states it.
#pragma once

#include "fit/torch.hpp"
#include "knowledge/knowledge.hpp"
#include "knowledge/limits.hpp"
#include "machine/machine.hpp"
#include "model/platform.hpp"
#include "model/version.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cukit::resolve::rules {

struct Rule {
  std::string_view id;
  std::string_view statement;
  std::string_view source;
};

struct Violation {
  const Rule* rule = nullptr;
  std::string reason; ///< about the values at hand, lower case, no period
};
/// Empty: the rule holds.
using Verdict = std::optional<Violation>;

extern const Rule k_compiler_core;
extern const Rule k_ptxas_pair;
extern const Rule k_runtime_minor;
extern const Rule k_jit_linker;
extern const Rule k_binary_utilities;
extern const Rule k_cccl;
extern const Rule k_device_runtime;
extern const Rule k_pytorch_major;
extern const Rule k_pytorch_minor;
extern const Rule k_pytorch_build;
extern const Rule k_pytorch_code;
extern const Rule k_gpu_range;
extern const Rule k_driver_floor;
extern const Rule k_ptx_of_driver;
extern const Rule k_host_compiler;
extern const Rule k_c_library;
extern const Rule k_consumer_minimum;
extern const Rule k_platform;
extern const Rule k_compiler_wheels;
extern const Rule k_version_wish;
extern const Rule k_availability;
extern const Rule k_prerelease;
extern const Rule k_machine;
extern const Rule k_sources;
/// All of the above, for documentation and tests.
const std::vector<const Rule*>& all();

/// nvcc, crt, nvvm and nvptxcompiler carry one full version.
Verdict compiler_core(const Version& nvcc, std::string_view component, const Version& version);
/// ptxas and nvlink are nvcc's own, or both newer and of one package; majors never differ.
Verdict ptxas_pair(const Version& nvcc, const Version& ptxas, const Version& nvlink);
/// cudart, nvrtc and cupti have nvcc's minor, whatever the patch.
Verdict runtime_minor(const Version& nvcc, std::string_view component, const Version& version);
/// nvJitLink has nvcc's minor.
Verdict jit_linker(const Version& nvcc, const Version& version);
/// cuobjdump and nvdisasm read what their own and older minors wrote.
Verdict binary_utilities(const Version& nvcc, std::string_view component, const Version& version);
/// CCCL is the release's own line or newer; versions are CCCL's (3.0), not the package's.
Verdict cccl(const Version& own, const Version& chosen);
/// nvlink refuses a libcudadevrt.a that is newer than itself.
Verdict device_runtime(const Version& cudart, const Version& nvlink);
Verdict pytorch_major(const Version& torch_cuda, const Version& cuda);
/// PyTorch was published with that tag in that version; unknown ones are let pass.
Verdict pytorch_build(const fit::TorchReleases& torches, const fit::TorchName& torch);
/// The libraries of that build have code for the GPU; what is not known is let pass.
Verdict pytorch_code(const fit::TorchReleases& torches, const fit::TorchName& torch,
                     const GpuTarget& gpu, Platform platform,
                     const std::vector<knowledge::Architecture>& architectures);
/// The target, with its suffix, is one that nvcc of this CUDA compiles for.
Verdict gpu_range(const knowledge::Architecture& architecture, const GpuTarget& target,
                  const Version& cuda);
/// `oldest` driver runs programs of this release (minor version compatibility).
Verdict driver_floor(const knowledge::Release& release, const Version& oldest);
/// A driver whose own CUDA is `driver_cuda` compiles the PTX that this release writes.
Verdict ptx_of_driver(const knowledge::Release& release, const knowledge::Release& driver_cuda);
Verdict host_compiler(const knowledge::Release& release, const machine::Compiler& compiler);
Verdict c_library(const knowledge::Limits& limits, const Version& cuda, const Version& glibc);
/// The consumer's own least nvcc for one GPU.
Verdict consumer_minimum(const knowledge::Consumer& consumer, const GpuTarget& target,
                         const Version& cuda);
Verdict platform(const knowledge::Limits& limits, Platform platform, const Version& cuda);
/// One of the sources that the manifest names holds the release; `source` empty: nothing is said.
Verdict sources(const knowledge::Limits& limits, const std::vector<std::string>& named,
                std::string_view source, const Version& cuda);
/// The Python wheels of this CUDA hold an nvcc.
Verdict compiler_wheels(const knowledge::Limits& limits, const Version& cuda);

/// The version of CCCL in a package: 13.3.5.0.6 is 3.5.0; older packages are numbered like CUDA, so
/// the release's line is the answer.
Version cccl_of_package(const Version& package, const std::vector<knowledge::Release>& releases);
/// The oldest driver that a range admits; 0 when it has no lower end.
Version oldest_driver(const VersionRange& range);

} // namespace cukit::resolve::rules
