#include "archive/block_pipe.hpp"

namespace cukit::archive {

namespace {

constexpr std::size_t k_block_bytes = 256U << 10U;
constexpr std::size_t k_blocks = 8;

} // namespace

Block BlockPipe::take_empty() {
  {
    const std::lock_guard guard(mutex_);
    if (!empty_.empty()) {
      Block block = std::move(empty_.back());
      empty_.pop_back();
      return block;
    }
  }
  Block block;
  block.bytes.resize(k_block_bytes);
  return block;
}

bool BlockPipe::push(Block block) {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return full_.size() < k_blocks || abandoned_; });
  if (abandoned_) {
    return false;
  }
  full_.push_back(std::move(block));
  changed_.notify_all();
  return true;
}

void BlockPipe::close(Result<void> outcome) {
  const std::lock_guard guard(mutex_);
  outcome_ = std::move(outcome);
  changed_.notify_all();
}

Result<std::optional<Block>> BlockPipe::pop() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return !full_.empty() || outcome_; });
  if (!full_.empty()) {
    Block block = std::move(full_.front());
    full_.pop_front();
    changed_.notify_all();
    return std::optional(std::move(block));
  }
  if (!*outcome_) {
    return tl::unexpected<Error>(outcome_->error());
  }
  return std::nullopt;
}

void BlockPipe::give_back(Block block) {
  block.size = 0;
  block.entries.clear();
  const std::lock_guard guard(mutex_);
  empty_.push_back(std::move(block));
}

void BlockPipe::abandon() {
  const std::lock_guard guard(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

} // namespace cukit::archive
