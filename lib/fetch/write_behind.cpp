#include "fetch/write_behind.hpp"

#include <algorithm>

namespace cukit::fetch {

WriteBehind::~WriteBehind() {
  std::unique_lock guard(mutex_);
  waiting_.clear();
  changed_.wait(guard, [this] { return !is_running_; });
}

Result<void> WriteBehind::push(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const auto count = std::min(bytes.size(), k_block_bytes - filling_.size());
    filling_.insert(filling_.end(), bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (filling_.size() == k_block_bytes) {
      hand_over();
    }
  }
  const std::lock_guard guard(mutex_);
  return error_ ? Result<void>(tl::unexpected<Error>(*error_)) : Result<void>();
}

void WriteBehind::hand_over() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return waiting_.size() < k_blocks || error_; });
  if (error_) {
    filling_.clear();
    return;
  }
  waiting_.push_back(std::move(filling_));
  filling_ = Block();
  if (!spare_.empty()) {
    filling_ = std::move(spare_.back());
    spare_.pop_back();
  }
  filling_.reserve(k_block_bytes);
  if (!is_running_) {
    is_running_ = true;
    pool_.submit([this] { consume_all(); });
  }
}

void WriteBehind::consume_all() {
  std::unique_lock guard(mutex_);
  while (!waiting_.empty()) {
    Block block = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    auto consumed = consume_(block);
    guard.lock();
    if (!consumed) {
      error_ = std::move(consumed).error();
      waiting_.clear();
    }
    block.clear();
    spare_.push_back(std::move(block));
    changed_.notify_all();
  }
  is_running_ = false;
  changed_.notify_all(); // under the lock: the destructor may be waiting for it
}

Result<void> WriteBehind::drain() {
  if (!filling_.empty()) {
    hand_over();
  }
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return !is_running_; });
  if (const auto error = std::exchange(error_, std::nullopt)) {
    return tl::unexpected<Error>(*error);
  }
  return {};
}

} // namespace cukit::fetch
