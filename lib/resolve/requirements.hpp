// What a lock asks of the machine it is used on, compared with one.
#pragma once

#include "lock/lock.hpp"
#include "machine/machine.hpp"

namespace cukit::resolve {

/// What a node shows. Absent values are not compared: a machine without a GPU builds for others.
struct Node {
  std::optional<Version> glibc;
  std::optional<Version> driver;
  std::vector<machine::Gpu> gpus;
};

/// One sentence per difference, each with both values; empty when the node meets the lock.
std::vector<std::string> unmet(const lock::Lock& lock, const lock::PlatformLock& platform,
                               const Node& node);

/// "sm_90, sm_120".
std::string targets_text(const std::vector<GpuTarget>& targets);

} // namespace cukit::resolve
