#include "http/runner.hpp"

#include <algorithm>

namespace cukit::http {

namespace {

void must(CURLMcode code) {
  CUKIT_ENSURE(code == CURLM_OK, libcurl().multi_strerror(code));
}

} // namespace

void Runner::run(const std::vector<std::size_t>& keys, const std::stop_token& stop) {
  ready_.assign(keys.begin(), keys.end());
  const std::stop_callback wake(stop,
                                [this] { static_cast<void>(libcurl().multi_wakeup(multi_)); });
  while (!ready_.empty() || !delayed_.empty() || !active_.empty()) {
    if (stop.stop_requested()) {
      cancel_all();
      return;
    }
    start_what_may();
    int running = 0;
    must(libcurl().multi_perform(multi_, &running));
    take_ended_hops();
    wait();
  }
}

void Runner::start_what_may() {
  const auto now = Clock::now();
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    ready_.push_back(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
  }
  while (!ready_.empty() && active_.size() < parallel_) {
    const std::size_t key = ready_.front();
    ready_.pop_front();
    start(key);
  }
}

void Runner::start(std::size_t key) {
  auto exchange = make_(key);
  if (auto refused = exchange->begin()) {
    take(key, std::move(*refused));
    return;
  }
  CURL* handle = exchange->handle();
  must(libcurl().multi_add_handle(multi_, handle));
  active_.emplace(handle, std::pair(key, std::move(exchange)));
}

void Runner::take(std::size_t key, Outcome outcome) {
  if (const auto delay = take_(key, std::move(outcome))) {
    delayed_.emplace(Clock::now() + *delay, key);
  }
}

void Runner::take_ended_hops() {
  int left = 0;
  while (const CURLMsg* message = libcurl().multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) {
      continue;
    }
    CURL* handle = message->easy_handle;
    const CURLcode code = message->data.result;
    must(libcurl().multi_remove_handle(multi_, handle)); // the message is gone with it
    const auto found = active_.find(handle);
    CUKIT_ENSURE(found != active_.end(), "libcurl ends a transfer that nobody began");
    auto outcome = found->second.second->end_of_hop(code);
    if (!outcome) {
      must(libcurl().multi_add_handle(multi_, handle));
      continue;
    }
    const std::size_t key = found->second.first;
    active_.erase(found);
    take(key, std::move(*outcome));
  }
}

void Runner::wait() {
  using std::chrono::milliseconds;
  // libcurl shortens the time by its own timers; the bound is for the low-speed check alone.
  auto time = milliseconds(250);
  if (!ready_.empty() && active_.size() < parallel_) {
    return;
  }
  if (!delayed_.empty()) {
    const auto until = std::chrono::ceil<milliseconds>(delayed_.begin()->first - Clock::now());
    time = std::clamp(until, milliseconds(0), time);
  } else if (active_.empty()) {
    return;
  }
  must(libcurl().multi_poll(multi_, nullptr, 0, static_cast<int>(time.count()), nullptr));
}

void Runner::cancel_all() {
  std::vector<std::size_t> keys(ready_.begin(), ready_.end());
  ready_.clear();
  for (const auto& [at, key] : delayed_) {
    keys.push_back(key);
  }
  delayed_.clear();
  for (const auto& [handle, entry] : active_) {
    must(libcurl().multi_remove_handle(multi_, handle));
    keys.push_back(entry.first);
  }
  active_.clear();
  std::sort(keys.begin(), keys.end());
  for (const std::size_t key : keys) {
    static_cast<void>(take_(key, interrupted_outcome()));
  }
}

} // namespace cukit::http
