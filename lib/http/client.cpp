#include "http/client.hpp"

#include "http/failure.hpp"
#include "http/page.hpp"
#include "http/runner.hpp"

#include <algorithm>
#include <mutex>
#include <random>

namespace cukit::http {

namespace {

class Jitter {
public:
  double operator()() { return std::uniform_real_distribution<double>(0, 1)(engine_); }

private:
  std::mt19937_64 engine_{std::random_device{}()};
};

/// One request of get_all with its attempts.
struct Page {
  Page(const Request& request, std::uint64_t& room) : receiver(request, room) {}
  PageReceiver receiver;
  int attempts = 0;
  Result<Response> result = fail(ErrorCode::interrupted, "interrupted");
};

class CurlClient final : public Client {
public:
  explicit CurlClient(Session session) : session_(std::move(session)) {}

  std::vector<Result<Response>> get_all(std::span<const Request> requests,
                                        const std::stop_token& stop) override;
  void stream(std::vector<Download> downloads, int parallel,
              const std::function<std::optional<Again>(std::size_t, Ended)>& done,
              const std::stop_token& stop) override;

private:
  Multi borrow();
  void give_back(Multi multi);
  std::optional<std::chrono::milliseconds> take(Page& page, Outcome outcome, Jitter& jitter) const;

  Session session_;
  std::mutex mutex_;        ///< guards idle_
  std::vector<Multi> idle_; ///< with their connections still open
};

Multi CurlClient::borrow() {
  const std::lock_guard guard(mutex_);
  if (idle_.empty()) {
    return session_.make_multi();
  }
  Multi multi = std::move(idle_.back());
  idle_.pop_back();
  return multi;
}

void CurlClient::give_back(Multi multi) {
  const std::lock_guard guard(mutex_);
  idle_.push_back(std::move(multi));
}

std::optional<std::chrono::milliseconds> CurlClient::take(Page& page, Outcome outcome,
                                                          Jitter& jitter) const {
  outcome.attempt.number = ++page.attempts;
  if (outcome.result && !page.receiver.is_complete()) {
    outcome.result = tl::unexpected<Error>(transport_error(CURLE_PARTIAL_FILE, "", outcome.url));
    outcome.attempt.transport_failed = true;
  }
  if (outcome.result || outcome.attempt.status == 404 || page.receiver.is_range_refused()) {
    page.result = page.receiver.take(outcome);
    return std::nullopt;
  }
  const auto delay = retry_delay(outcome.attempt, session_.options(), jitter());
  if (!delay) {
    page.result = tl::unexpected<Error>(std::move(outcome.result).error());
  }
  return delay;
}

std::vector<Result<Response>> CurlClient::get_all(std::span<const Request> requests,
                                                  const std::stop_token& stop) {
  std::uint64_t room = session_.options().pages_bytes;
  std::vector<Page> pages;
  std::vector<std::size_t> keys;
  pages.reserve(requests.size()); // receivers are pointed at
  for (const auto& request : requests) {
    keys.push_back(pages.size());
    pages.emplace_back(request, room);
  }
  Multi multi = borrow();
  {
    Jitter jitter;
    Runner runner(
        multi.get(), limits::k_pages_at_once,
        [&](std::size_t key) {
          Call call = pages[key].receiver.call();
          call.on_a_fresh_connection = pages[key].attempts > 0;
          return std::make_unique<Exchange>(session_, std::move(call));
        },
        [&](std::size_t key, Outcome outcome) {
          return take(pages[key], std::move(outcome), jitter);
        });
    runner.run(keys, stop);
  }
  give_back(std::move(multi));
  std::vector<Result<Response>> results;
  for (auto& page : pages) {
    results.push_back(std::move(page.result));
  }
  return results;
}

void CurlClient::stream(std::vector<Download> downloads, int parallel,
                        const std::function<std::optional<Again>(std::size_t, Ended)>& done,
                        const std::stop_token& stop) {
  std::vector<std::size_t> keys;
  std::vector<std::unique_ptr<FileReceiver>> receivers;
  for (const auto& download : downloads) {
    keys.push_back(receivers.size());
    receivers.push_back(std::make_unique<FileReceiver>(download, false));
  }
  std::stable_sort(keys.begin(), keys.end(), [&](std::size_t a, std::size_t b) {
    return downloads[a].priority > downloads[b].priority;
  });
  Multi multi = borrow();
  {
    Runner runner(
        multi.get(), static_cast<std::size_t>(std::max(1, parallel)),
        [&](std::size_t key) {
          return std::make_unique<Exchange>(session_, receivers[key]->call());
        },
        [&](std::size_t key, Outcome outcome) -> std::optional<std::chrono::milliseconds> {
          auto again = done(key, receivers[key]->ended(std::move(outcome)));
          if (!again) {
            return std::nullopt;
          }
          receivers[key] = std::make_unique<FileReceiver>(std::move(again->download), true);
          return again->delay;
        });
    runner.run(keys, stop);
  }
  give_back(std::move(multi));
}

} // namespace

Result<std::unique_ptr<Client>> Client::create(Options options) {
  CUKIT_TRY_ASSIGN(Session session, Session::create(std::move(options)));
  return std::make_unique<CurlClient>(std::move(session));
}

Result<Response> Client::get(const Request& request, const std::stop_token& stop) {
  return std::move(get_all(std::span(&request, 1), stop).front());
}

} // namespace cukit::http
