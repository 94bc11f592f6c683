#include "base/thread_pool.hpp"

#include <algorithm>
#include <sched.h>
#include <system_error>

namespace cukit {

namespace {

// More only fight for memory and for the one disk; a container's share of 200 processors is seldom
// seen in the affinity either.
constexpr unsigned k_most_workers = 16;

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

// The heap's order: heavier first, then first come, first served.
constexpr auto k_later = [](const auto& a, const auto& b) {
  return a.weight != b.weight ? a.weight < b.weight : a.order > b.order;
};

} // namespace

ThreadPool::ThreadPool(unsigned threads) {
  const unsigned count = threads == 0 ? std::min(usable_processors(), k_most_workers) : threads;
  workers_.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    try {
      workers_.emplace_back([this] { work_until_closed(); });
    } catch (const std::system_error&) { // a limit of processes or memory
      if (workers_.empty()) {
        throw; // nobody would do the work: last_resort.hpp says it
      }
      return;
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  ready_.notify_all();
  workers_.clear(); // joins
}

void ThreadPool::submit(std::function<void()> work, std::uint64_t weight) {
  {
    const std::lock_guard guard(mutex_);
    queue_.push_back(Job{weight, next_order_++, std::move(work)});
    std::push_heap(queue_.begin(), queue_.end(), k_later);
  }
  ready_.notify_one();
}

void ThreadPool::work_until_closed() {
  while (true) {
    std::unique_lock guard(mutex_);
    ready_.wait(guard, [this] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    std::pop_heap(queue_.begin(), queue_.end(), k_later);
    auto work = std::move(queue_.back().work);
    queue_.pop_back();
    guard.unlock();
    work();
  }
}

} // namespace cukit
