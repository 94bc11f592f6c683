#include "knowledge/arch_list.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

/// A target as a consumer writes it; empty: it has no name for it.
std::string spelled(GpuTarget gpu, const std::string& style) {
  if (style == "family" && gpu.suffix == 0) {
    // As builders of kernels name them: 9.0 and later need their own features; sm_120 has the
    // family form.
    if (gpu.major == 12 && gpu.minor == 0) {
      gpu.suffix = 'f';
    } else if (gpu.major >= 9) {
      gpu.suffix = 'a';
    }
  } else if (style != "family") {
    gpu.suffix = 0;
  }
  return style == "number"  ? fmt::format("{}{}", gpu.major, gpu.minor)
         : style == "major" ? fmt::format("{}0", gpu.major)
                            : gpu.dotted();
}

} // namespace

std::string architecture_list(const ArchVariable& variable, const std::vector<GpuTarget>& gpus) {
  std::vector<std::string> items;
  for (const auto& gpu : gpus) {
    const auto text = spelled(gpu, variable.style);
    if (std::find(items.begin(), items.end(), text) == items.end()) {
      items.push_back(text);
    }
  }
  return join(items, variable.separator.empty() ? " " : variable.separator);
}

} // namespace cukit::knowledge
