// A fixed number of worker threads and one queue. Work that waits for other work of the same pool
// must not be put in.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cukit {

class ThreadPool {
public:
  /// 0: as many as the processors this process may use, up to 16. Fewer, but at least one, where
  /// the machine gives no more.
  explicit ThreadPool(unsigned threads = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool(); ///< finishes what was submitted

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(workers_.size()); }
  /// `work` must not throw. Larger `weight` runs earlier: the longest jobs first keep all workers
  /// busy to the end.
  void submit(std::function<void()> work, std::uint64_t weight = 0);

private:
  struct Job {
    std::uint64_t weight;
    std::uint64_t order;
    std::function<void()> work;
  };
  void work_until_closed();

  std::mutex mutex_; ///< guards the queue, the counter and the flag
  std::condition_variable ready_;
  std::vector<Job> queue_; ///< a heap
  std::uint64_t next_order_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> workers_;
};

} // namespace cukit
