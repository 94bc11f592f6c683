// Where CUDA and what is around it stop going together, as far as no single release tells it:
// recipes/knowledge/limits.yaml.
#pragma once

#include "model/platform.hpp"
#include "model/version.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cukit::knowledge {

/// Functions that a C library declares in a way that CUDA's own headers contradict.
struct CLibraryClash {
  Version glibc; ///< the first that declares them
  Version cuda;  ///< the first whose headers agree
  std::vector<std::string> functions;
  std::string evidence;
};

/// A platform for which CUDA is no longer made.
struct PlatformEnd {
  Platform platform;
  Version last;       ///< 12.9
  Version without;    ///< 13.0: the first that is not made for it
  Platform successor; ///< serves its devices from then on
  std::string evidence;
};

/// Arguments that the code nvcc generates passes to __cudaLaunch of crt/host_runtime.h.
struct LaunchArguments {
  std::optional<Version> cuda; ///< a minor; empty: all others
  int count = 0;               ///< 0: not known
};

struct Limits {
  std::vector<CLibraryClash> c_library; ///< newest C library first
  std::vector<PlatformEnd> platforms;
  Version compiler_wheels; ///< the first whose Python wheels hold an nvcc
  Version cccl_numbers;    ///< the first CCCL whose libraries share one number
  std::vector<LaunchArguments> launch_arguments;
};

} // namespace cukit::knowledge
