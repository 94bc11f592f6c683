// The GPUs of the machine, cheaper than devices(): /proc and the nodes in /dev. Never loads the
// driver.
#pragma once

#include "base/files.hpp"

#include <string>
#include <vector>

namespace cukit::machine {

/// A GPU as the kernel module names it, whether this process may use it or not.
struct QuickGpu {
  std::string model; ///< NVIDIA H200
  std::string uuid;  ///< GPU-...; empty as long as nobody has used the GPU since the module came
};

struct QuickGpus {
  std::vector<QuickGpu> listed;
  bool may_be_more = false; ///< a device node is there, but no list: WSL, Tegra, some containers
};
QuickGpus quick_gpus(const fs::path& root = "/");

} // namespace cukit::machine
