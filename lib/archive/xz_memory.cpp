#include "archive/xz_memory.hpp"

namespace cukit::archive {

Result<void> XzMemory::Share::become(std::uint64_t bytes, const std::stop_token& stop) {
  release();
  std::unique_lock guard(memory_.mutex_);
  const bool fits = memory_.freed_.wait(guard, stop, [&] {
    return memory_.used_ == 0 || memory_.used_ + bytes <= memory_.together_;
  });
  if (!fits) {
    return fail(ErrorCode::interrupted, "interrupted while waiting for memory");
  }
  bytes_ = bytes;
  memory_.used_ += bytes;
  return {};
}

void XzMemory::Share::release() {
  if (bytes_ == 0) {
    return;
  }
  const std::lock_guard guard(memory_.mutex_);
  memory_.used_ -= bytes_;
  bytes_ = 0;
  memory_.freed_.notify_all();
}

} // namespace cukit::archive
