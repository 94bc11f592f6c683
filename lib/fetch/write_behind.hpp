// What arrives on one thread is put to disk and hashed on others, so that the thread that receives
// does nothing but receive. The bytes of one file stay in order; many files share one pool.
#pragma once

#include "base/result.hpp"
#include "base/thread_pool.hpp"

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace cukit::fetch {

/// push() and drain() belong to one thread; `consume` is called on the pool's, one call at a time.
/// At most k_blocks blocks wait: push() waits for the disk then, so memory stays bounded and the
/// server is held back by the connection.
class WriteBehind {
public:
  using Consume = std::function<Result<void>(std::span<const std::uint8_t> bytes)>;
  static constexpr std::size_t k_block_bytes = 512U << 10U;
  static constexpr std::size_t k_blocks = 4;

  WriteBehind(ThreadPool& pool, Consume consume) : pool_(pool), consume_(std::move(consume)) {}
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;
  ~WriteBehind(); ///< waits for what runs; what nobody drained may be lost

  /// An error is that of an earlier block; nothing after it was consumed.
  Result<void> push(std::span<const std::uint8_t> bytes);
  /// Waits until everything pushed was consumed. The error is told once: the next push() begins
  /// anew.
  Result<void> drain();

private:
  using Block = std::vector<std::uint8_t>;
  void hand_over();
  void consume_all();

  ThreadPool& pool_;
  Consume consume_;
  Block filling_;

  std::mutex mutex_; ///< guards what follows
  std::condition_variable changed_;
  std::deque<Block> waiting_;
  std::vector<Block> spare_;
  bool is_running_ = false;
  std::optional<Error> error_;
};

} // namespace cukit::fetch
