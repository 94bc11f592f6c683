#include "machine/quick_gpus.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::machine {

namespace {

constexpr std::uint64_t k_proc_bytes = 64U << 10U;
// NVIDIA's module, WSL, Tegra
constexpr const char* k_device_nodes[] = {"nvidiactl", "dxg", "nvhost-ctrl-gpu", "nvmap"};

/// Lines such as `GPU UUID: \t GPU-5c1f...`.
QuickGpu gpu_of(std::string_view information) {
  QuickGpu gpu;
  for (const auto line : split(information, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const auto value = trim(line.substr(colon + 1));
    if (trim(line.substr(0, colon)) == "Model") {
      gpu.model = printable(value);
    } else if (trim(line.substr(0, colon)) == "GPU UUID" &&
               value.find('?') == std::string_view::npos) { // GPU-????????-...: not known yet
      gpu.uuid = printable(value);
    }
  }
  return gpu;
}

} // namespace

QuickGpus quick_gpus(const fs::path& root) {
  QuickGpus found;
  const fs::path folder = root / "proc/driver/nvidia/gpus";
  if (const auto names = list_directory(folder)) {
    for (const auto& name : *names) {
      if (const auto text = read_file(folder / name / "information", k_proc_bytes)) {
        found.listed.push_back(gpu_of(*text));
      }
    }
  }
  found.may_be_more =
      found.listed.empty() &&
      std::any_of(std::begin(k_device_nodes), std::end(k_device_nodes),
                  [&](const char* node) { return path_exists(root / "dev" / node); });
  return found;
}

} // namespace cukit::machine
