// Which parts of one toolkit may differ in version from its nvcc, and by how much. A lock knows
// full versions; of what is installed often no more than the minor is known, and the functions
// compare no more than they say.
#pragma once

#include "fit/answer.hpp"
#include "knowledge/knowledge.hpp"
#include "knowledge/limits.hpp"

namespace cukit::fit {

/// crt, nvvm and nvptxcompiler beside nvcc: one full version.
[[nodiscard]] Fit core_part(const Version& nvcc, const Version& part);
/// Headers and run-time compilers (cudart, nvrtc, cupti, nvJitLink) beside nvcc: its minor.
[[nodiscard]] Fit minor_part(const Version& nvcc, const Version& part);
/// cuobjdump and nvdisasm, which read what their own and older minors of their major wrote.
[[nodiscard]] Fit binary_utility(const Version& nvcc, const Version& tool);
/// A ptxas for what cicc writes, by minors: the PTX of a minor is one.
[[nodiscard]] Fit reads_ptx(const Version& cicc, const Version& ptxas);
/// A ptxas in a toolkit of this nvcc: of its major, and not older, patches counted.
[[nodiscard]] Fit ptxas_beside(const Version& nvcc, const Version& ptxas);
/// nvlink and ptxas come from one package.
[[nodiscard]] Fit linker_of(const Version& ptxas, const Version& nvlink);
/// The same where only minors are known.
[[nodiscard]] Fit linker_of_minor(const Version& ptxas, const Version& nvlink);
/// nvlink refuses a libcudadevrt.a (of cudart) of a newer minor than its own.
[[nodiscard]] Fit device_runtime(const Version& nvlink, const Version& cudart);
/// CCCL beside nvcc: the release's own line or newer. Versions are CCCL's (3.0), not a package's.
[[nodiscard]] Fit cccl_line(const Version& own, const Version& cccl);
/// The same for a CCCL that was found: unknown where its libraries had numbers of their own.
[[nodiscard]] Fit cccl_found(const Version& own, const Version& cccl,
                             const knowledge::Limits& limits);
/// Arguments that the code of this nvcc passes to __cudaLaunch; 0: not known.
[[nodiscard]] int launch_arguments(const Version& nvcc, const knowledge::Limits& limits);

/// The Python wheels of this CUDA hold an nvcc, and crt and nvvm have wheels of their own.
[[nodiscard]] Fit compiler_in_wheels(const Version& cuda, const knowledge::Limits& limits);
/// The end of a platform, if CUDA is not made for it any more; nullptr: it is.
[[nodiscard]] const knowledge::PlatformEnd* ended_before(Platform platform, const Version& cuda,
                                                         const knowledge::Limits& limits);
/// A toolkit for what was built with PyTorch's CUDA: its major.
[[nodiscard]] Fit goes_with_torch(const Version& torch_cuda, const Version& cuda);

} // namespace cukit::fit
