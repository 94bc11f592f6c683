// What arrives on one thread is put to disk and hashed on others, so that the thread that receives
// does nothing but receive. The bytes of one file stay in order; many files share one pool.
#pragma once

#include "base/result.hpp"
#include "base/thread_pool.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace cukit::fetch {

/// push() and drain() belong to one thread; `consume` is called on the pool's, one call at a time.
/// It gets whatever has arrived as soon as it is done with what came before: on a slow line bytes
/// go to disk at once, on a fast one in large pieces. At most k_waiting_bytes wait: push() waits
/// for the disk then, so memory stays bounded and the connection holds the server back.
class WriteBehind {
public:
  using Consume = std::function<Result<void>(std::span<const std::uint8_t> bytes)>;
  static constexpr std::size_t k_waiting_bytes = 1U << 20U;

  WriteBehind(ThreadPool& pool, Consume consume) : pool_(pool), consume_(std::move(consume)) {}
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;
  ~WriteBehind(); ///< waits for what runs; what nobody drained may be lost

  /// An error is that of earlier bytes; nothing after them was consumed.
  Result<void> push(std::span<const std::uint8_t> bytes);
  /// Waits until everything pushed was consumed. The error is told once: the next push() begins
  /// anew.
  Result<void> drain();

private:
  void consume_all();

  ThreadPool& pool_;
  Consume consume_;
  std::vector<std::uint8_t> in_work_; ///< the pool's while is_running_

  std::mutex mutex_; ///< guards what follows
  std::condition_variable changed_;
  std::vector<std::uint8_t> waiting_;
  bool is_running_ = false;
  std::optional<Error> error_;
};

} // namespace cukit::fetch
