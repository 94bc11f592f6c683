#include "fetch/write_behind.hpp"

#include <algorithm>

namespace cukit::fetch {

WriteBehind::~WriteBehind() {
  std::unique_lock guard(mutex_);
  waiting_.clear();
  changed_.wait(guard, [this] { return !is_running_; });
}

Result<void> WriteBehind::push(std::span<const std::uint8_t> bytes) {
  std::unique_lock guard(mutex_);
  while (!bytes.empty()) {
    changed_.wait(guard, [this] { return waiting_.size() < k_waiting_bytes || error_; });
    if (error_) {
      return tl::unexpected<Error>(*error_);
    }
    const auto count = std::min(bytes.size(), k_waiting_bytes - waiting_.size());
    waiting_.insert(waiting_.end(), bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (!is_running_) {
      is_running_ = true;
      pool_.submit([this] { consume_all(); });
    }
  }
  return {};
}

void WriteBehind::consume_all() {
  std::unique_lock guard(mutex_);
  while (!waiting_.empty()) {
    std::swap(waiting_, in_work_);
    changed_.notify_all();
    guard.unlock();
    auto consumed = consume_(in_work_);
    in_work_.clear();
    guard.lock();
    if (!consumed) {
      error_ = std::move(consumed).error();
      waiting_.clear();
    }
  }
  is_running_ = false;
  changed_.notify_all(); // under the lock: the destructor may be waiting for it
}

Result<void> WriteBehind::drain() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return !is_running_; });
  if (const auto error = std::exchange(error_, std::nullopt)) {
    return tl::unexpected<Error>(*error);
  }
  return {};
}

} // namespace cukit::fetch
