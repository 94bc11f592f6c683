#include "fetch/fetch.hpp"

#include "fetch/job.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

namespace cukit::fetch {

namespace {

class Batch {
public:
  using Done = std::function<void(std::size_t, Result<Blob>)>;
  Batch(http::Client& client, const std::vector<Wanted>& wanted, const Options& options,
        const Done& done, Progress& progress, const std::stop_token& stop)
      : client_(client), options_(options), done_(done), stop_(stop),
        workers_(static_cast<unsigned>(options.parallel)) {
    for (const auto& one : wanted) {
      order_.push_back(jobs_.size());
      jobs_.push_back(std::make_unique<Job>(one, options, workers_, progress, stop));
    }
    // What takes longest afterwards comes first, also of what lies on this disk.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a].size > wanted[b].size; });
  }

  Result<void> run();

private:
  /// Those of `indexes` that have to be downloaded; the others have ended.
  std::vector<std::size_t> settle(const std::vector<std::size_t>& indexes);
  void stream(const std::vector<std::size_t>& indexes);
  void end(std::size_t index, Result<Blob> result);

  http::Client& client_;
  const Options& options_;
  const Done& done_;
  const std::stop_token& stop_;
  ThreadPool workers_; ///< they hash and write: outlives the jobs
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<std::size_t> order_; ///< the largest first
  std::optional<Error> first_error_;
  std::mt19937_64 random_{std::random_device{}()};
};

Result<void> Batch::run() {
  std::vector<std::size_t> ours;
  std::vector<std::size_t> others;
  for (const std::size_t i : order_) {
    auto locked = jobs_[i]->lock();
    if (!locked) {
      end(i, tl::unexpected<Error>(std::move(locked).error()));
    } else if (!*locked) {
      others.push_back(i);
    } else {
      ours.push_back(i);
    }
  }
  stream(settle(ours));
  // Only now, holding no lock any more: two processes that wait for each other's files would never
  // end.
  for (const std::size_t i : others) {
    auto locked = jobs_[i]->wait_for_lock();
    if (!locked) {
      end(i, tl::unexpected<Error>(std::move(locked).error()));
    } else {
      stream(settle({i}));
    }
  }
  if (first_error_) {
    return tl::unexpected<Error>(std::move(*first_error_));
  }
  return {};
}

std::vector<std::size_t> Batch::settle(const std::vector<std::size_t>& indexes) {
  struct Settled {
    std::size_t index;
    std::optional<Result<Blob>> blob;
  };
  std::mutex mutex; // guards the queue
  std::condition_variable ready;
  std::deque<Settled> queue;
  for (const std::size_t i : indexes) {
    workers_.submit([&, i, job = jobs_[i].get()] {
      std::optional<Result<Blob>> blob =
          fail(ErrorCode::interrupted, "interrupted before everything was fetched");
      if (!stop_.stop_requested()) {
        blob = job->settle();
      }
      const std::lock_guard guard(mutex);
      queue.push_back({i, std::move(blob)});
      ready.notify_one(); // under the lock: the queue is gone soon after its last element
    });
  }
  std::vector<std::size_t> open;
  for (std::size_t left = indexes.size(); left > 0; --left) {
    std::unique_lock guard(mutex);
    ready.wait(guard, [&] { return !queue.empty(); });
    auto [index, blob] = std::move(queue.front());
    queue.pop_front();
    guard.unlock();
    if (blob) {
      end(index, std::move(*blob));
    } else {
      open.push_back(index);
    }
  }
  return open;
}

void Batch::stream(const std::vector<std::size_t>& indexes) {
  std::vector<http::Download> downloads;
  downloads.reserve(indexes.size());
  for (const std::size_t i : indexes) {
    downloads.push_back(jobs_[i]->download());
  }
  std::uniform_real_distribution<double> jitter(0, 1);
  client_.stream(
      std::move(downloads), options_.parallel,
      [&](std::size_t at, http::Ended ended) {
        const std::size_t index = indexes[at];
        auto again = jobs_[index]->after(std::move(ended), jitter(random_));
        if (!again) {
          end(index, jobs_[index]->take_result());
        }
        return again;
      },
      stop_);
}

void Batch::end(std::size_t index, Result<Blob> result) {
  jobs_[index].reset(); // its bar ends and its lock is free before anybody hears of it
  if (!result && !first_error_) {
    first_error_ = result.error();
  }
  done_(index, std::move(result));
}

} // namespace

Result<void> fetch_all(http::Client& client, const std::vector<Wanted>& wanted,
                       const Options& options,
                       const std::function<void(std::size_t index, Result<Blob> result)>& done,
                       Progress& progress, const std::stop_token& stop) {
  CUKIT_TRY(make_directories(options.folder));
  return Batch(client, wanted, options, done, progress, stop).run();
}

} // namespace cukit::fetch
