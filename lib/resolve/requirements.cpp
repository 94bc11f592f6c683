#include "resolve/requirements.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::resolve {

std::string targets_text(const std::vector<GpuTarget>& targets) {
  std::vector<std::string> texts;
  for (const auto& target : targets) {
    texts.push_back(target.sm());
  }
  return join(texts, ", ");
}

std::vector<std::string> unmet(const lock::Lock& lock, const lock::PlatformLock& platform,
                               const Node& node) {
  std::vector<std::string> result;
  const auto glibc = Version::parse(platform.glibc);
  if (glibc && node.glibc && *node.glibc < *glibc) {
    result.push_back(fmt::format("the lock needs glibc {} or newer, this machine has {}",
                                 platform.glibc, node.glibc->text()));
  }
  const auto driver = Version::parse(lock.driver);
  if (driver && node.driver && *node.driver < *driver) {
    result.push_back(fmt::format("the lock needs driver {} or newer{}, this machine has {}",
                                 lock.driver, lock.assumed_driver ? " (it was assumed)" : "",
                                 machine::driver_text(*node.driver)));
  }
  for (const auto& gpu : node.gpus) {
    const bool is_served =
        std::any_of(lock.gpus.begin(), lock.gpus.end(),
                    [&](const GpuTarget& target) { return target.runs_on(gpu.target); });
    if (!lock.gpus.empty() && !is_served) {
      result.push_back(fmt::format("GPU {} ({}, {}) is served by none of the lock's targets ({}{})",
                                   gpu.index, printable(gpu.name), gpu.target.sm(),
                                   lock.assumed_gpus ? "assumed: " : "", targets_text(lock.gpus)));
    }
  }
  return result;
}

} // namespace cukit::resolve
