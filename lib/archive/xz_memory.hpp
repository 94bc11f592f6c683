// Memory for the dictionaries of all archives that are unpacked at once: four of them may need
// hundreds of megabytes together, so whoever comes too late waits.
#pragma once

#include "base/result.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace cukit::archive {

class XzMemory {
public:
  /// What several archives may have together. One alone gets what it needs, up to
  /// limits::k_xz_memory.
  explicit XzMemory(std::uint64_t together = 64U << 20U) : together_(together) {}

  /// A part of the memory, given back when the value goes.
  class Share {
  public:
    explicit Share(XzMemory& memory) : memory_(memory) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { release(); }
    /// Makes the part `bytes` large, waiting until that fits beside the others. While it waits it
    /// holds nothing, so two that grow never wait for each other.
    Result<void> become(std::uint64_t bytes, const std::stop_token& stop);

  private:
    void release();
    XzMemory& memory_;
    std::uint64_t bytes_ = 0;
  };

private:
  const std::uint64_t together_;
  std::mutex mutex_; ///< guards what follows
  std::condition_variable_any freed_;
  std::uint64_t used_ = 0;
};

} // namespace cukit::archive
