// Many exchanges at once on one multi handle, each run again after a delay as long as its owner
// says so. Everything happens on the calling thread; a stop request is seen within milliseconds,
// also while nothing moves.
#pragma once

#include "http/exchange.hpp"

#include <deque>
#include <map>

namespace cukit::http {

class Runner {
public:
  using Make = std::function<std::unique_ptr<Exchange>(std::size_t key)>;
  /// Takes an outcome; a delay asks for another run of the key.
  using Take =
      std::function<std::optional<std::chrono::milliseconds>(std::size_t key, Outcome outcome)>;

  /// `multi` must outlive the runner.
  Runner(CURLM* multi, std::size_t parallel, Make make, Take take)
      : multi_(multi), parallel_(parallel), make_(std::move(make)), take_(std::move(take)) {}

  /// Runs all keys, the first ones first; after a stop request each unfinished key gets the
  /// interrupted outcome.
  void run(const std::vector<std::size_t>& keys, const std::stop_token& stop);

private:
  using Clock = std::chrono::steady_clock;
  void start_what_may();
  void start(std::size_t key);
  void take(std::size_t key, Outcome outcome);
  void take_ended_hops();
  void wait();
  void cancel_all();

  CURLM* multi_;
  std::size_t parallel_;
  Make make_;
  Take take_;
  std::deque<std::size_t> ready_;
  std::multimap<Clock::time_point, std::size_t> delayed_;
  std::map<CURL*, std::pair<std::size_t, std::unique_ptr<Exchange>>> active_;
};

} // namespace cukit::http
