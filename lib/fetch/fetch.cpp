#include "fetch/fetch.hpp"

#include "fetch/job.hpp"

#include <algorithm>
#include <memory>
#include <random>

namespace cukit::fetch {

namespace {

class Batch {
public:
  using Done = std::function<void(std::size_t, Result<Blob>)>;
  Batch(http::Client& client, const std::vector<Wanted>& wanted, const Options& options,
        const Done& done, Progress& progress, const std::stop_token& stop)
      : client_(client), options_(options), done_(done), stop_(stop) {
    for (const auto& one : wanted) {
      order_.push_back(jobs_.size());
      jobs_.push_back(std::make_unique<Job>(one, options, progress, stop));
    }
    // What takes longest afterwards comes first, also of what lies on this disk.
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return wanted[a].size > wanted[b].size;
    });
  }

  Result<void> run();

private:
  /// Whether the job has to be downloaded; else it has ended.
  bool needs_network(std::size_t index);
  void stream(const std::vector<std::size_t>& indexes);
  void end(std::size_t index, Result<Blob> result);

  http::Client& client_;
  const Options& options_;
  const Done& done_;
  const std::stop_token& stop_;
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
    } else if (needs_network(i)) {
      ours.push_back(i);
    }
  }
  stream(ours);
  // Only now, holding no lock any more: two processes that wait for each other's files would never
  // end.
  for (const std::size_t i : others) {
    auto locked = jobs_[i]->wait_for_lock();
    if (!locked) {
      end(i, tl::unexpected<Error>(std::move(locked).error()));
    } else if (needs_network(i)) {
      stream({i});
    }
  }
  if (first_error_) {
    return tl::unexpected<Error>(std::move(*first_error_));
  }
  return {};
}

bool Batch::needs_network(std::size_t index) {
  if (stop_.stop_requested()) {
    end(index, fail(ErrorCode::interrupted, "interrupted before everything was fetched"));
    return false;
  }
  auto settled = jobs_[index]->settle();
  if (!settled) {
    return true;
  }
  end(index, std::move(*settled));
  return false;
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
