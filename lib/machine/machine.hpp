// This machine, asked cheaply: GPUs, driver, host compiler, C library. Nothing here links CUDA; the
// driver is asked through dlopen of libcuda.so.1, and the quick look goes to /proc and sysfs alone.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"
#include "model/gpu_target.hpp"
#include "model/platform.hpp"
#include "model/version.hpp"

#include <functional>
#include <optional>
#include <stop_token>

namespace cukit::machine {

struct Gpu {
  int index = 0;    ///< as CUDA numbers it with CUDA_DEVICE_ORDER=PCI_BUS_ID
  std::string name; ///< NVIDIA H200
  std::string uuid; ///< GPU-...
  GpuTarget target;
};

struct Driver {
  Version version; ///< 580.159.04, of the kernel module
  std::optional<Version>
      cuda; ///< 13.0: newest CUDA the user-mode driver knows; empty when it was not asked
  std::string library = {}; ///< the libcuda.so.1 that answered
};

/// 580.159.04: NVIDIA writes the third number of a driver with two digits.
std::string driver_text(const Version& version);

struct Compiler {
  std::string path; ///< /usr/bin/g++
  std::string kind; ///< gcc or clang
  Version version;
};

/// The text of a small file of /proc or /sys; nothing when it is no regular file that can be read
/// or has more bytes than the limit.
using ReadSmallFile =
    std::function<std::optional<std::string>(const std::string& path, std::uint64_t limit)>;
/// Of the driver's kernel module, as /proc or else /sys says.
std::optional<Version> module_version(const ReadSmallFile& read);

/// The quick look: /proc/driver/nvidia/version and the folders below /proc/driver/nvidia/gpus.
/// Never loads the driver.
struct QuickLook {
  std::optional<Version> driver;
  int gpu_count = 0;
};
QuickLook quick_look(const fs::path& root = "/");

/// GPUs and driver by libcuda, in a child process, so that a broken driver cannot take cukit with
/// it. No driver: empty, no error. The child is this very program with the one argument
/// `--probe-devices`: its main() calls probe_devices_main() on it.
struct Devices {
  std::optional<Driver> driver;
  std::vector<Gpu> gpus;
  std::string why_none; ///< when there is no GPU: what was tried and said
  /// Where libcuda names none: the GPUs that the driver's management library (NVML) sees. They are
  /// there, and nothing can run on them before libcuda is.
  std::vector<Gpu> seen = {};
};
Devices devices(const std::stop_token& stop = {});
/// The last resort: what `nvidia-smi` of that PATH prints, as `seen`. Runs it, for a few seconds at
/// most; without one everything is empty.
Devices ask_nvidia_smi(const Environment& environment, const std::stop_token& stop = {});
/// The child's side of devices(): prints JSON to stdout and returns the exit code.
int probe_devices_main();

/// The C++ compiler nvcc would use: `wanted` (a path or name, may be empty), NVCC_CCBIN, else g++
/// or clang++ on PATH.
Result<Compiler> host_compiler(const Environment& environment, const std::string& wanted,
                               const std::stop_token& stop = {});

Version glibc_version(); ///< of this process

} // namespace cukit::machine
