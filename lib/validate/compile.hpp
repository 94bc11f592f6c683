// Private to validate: one kernel compiled for one target, and its machine code checked.
#pragma once

#include "validate/outcome.hpp"

namespace cukit::validate {

/// What all compilations of a build share.
struct Toolchain {
  fs::path tree;
  machine::Compiler compiler;
  bool has_static_cxx =
      false;        ///< libstdc++.a is there, so that programs run where the C++ library is older
  fs::path sources; ///< holds common/ and a folder per kernel
  fs::path scratch; ///< a folder for each compilation is made below it
  fs::path out;     ///< programs go to bin/
};

struct Compilation {
  BuildResult result;
  std::optional<Program> program; ///< when it passed
};

/// The form of `gpu` that a kernel is compiled for: plain as it stands; specific sm_90a, and the
/// family from 10.0 on. Never a family with -dlto: nvlink of CUDA 13.0 makes plain code there.
GpuTarget target_for(const Kernel& kernel, const GpuTarget& gpu);

/// nvcc's arguments, relative to the compilation's own folder, so that no path of ours reaches the
/// binary or needs quoting.
std::vector<std::string> nvcc_arguments(const Toolchain& toolchain, const Kernel& kernel,
                                        const GpuTarget& target);

/// Every cubin in the folder is for exactly that target; the reason when not, also when there is
/// none.
std::string check_cubins(const fs::path& folder, const GpuTarget& target);

/// `libraries`: what the kernel loads, already in `out`/lib. An error only when a stop was
/// requested or the disk refuses.
Result<Compilation> compile(const Toolchain& toolchain, const Kernel& kernel,
                            const GpuTarget& target, const std::vector<BundleFile>& libraries,
                            const std::stop_token& stop);

} // namespace cukit::validate
