// One question and its answer, redirects included. We follow them ourselves: libcurl 7.88 would go
// from a loopback address to any plain http host, and cannot be told the rule.
#pragma once

#include "http/head.hpp"
#include "http/session.hpp"

#include <array>

namespace cukit::http {

/// Takes a good answer (2xx). An error from either function ends the transfer and becomes its
/// outcome.
class Receiver {
public:
  virtual ~Receiver() = default;
  virtual Result<void> start(const Head& head) = 0;
  virtual Result<void> write(std::span<const std::uint8_t> bytes) = 0;
};

struct Call {
  std::string url;
  std::vector<std::string> headers;
  bool takes_gzip = false;
  Receiver* receiver = nullptr;
  bool on_a_fresh_connection = false; ///< after a failure: the old one may be out of step
  bool is_page = false; ///< kept in memory: bounded in time as a whole, and not asked for again
                        ///< when it was too slow
};

struct Outcome {
  Result<void> result;
  Head head;       ///< of the last answer; status 0 when there was none
  std::string url; ///< where the last hop went
  Attempt attempt; ///< of a failure
};

Outcome interrupted_outcome();

class Exchange {
public:
  Exchange(const Session& session, Call call);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() = default;

  /// An address that the rules refuse is an outcome at once.
  std::optional<Outcome> begin();
  [[nodiscard]] CURL* handle() const { return easy_.get(); }
  /// After libcurl reported the end of a hop: the outcome, or nothing when the next hop is to be
  /// started with the same handle.
  std::optional<Outcome> end_of_hop(CURLcode code);

private:
  static std::size_t on_header(char* data, std::size_t unit, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t unit, std::size_t count, void* self);
  static int on_sending(void* self, char*, char*, int, int);
  static int on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t);
  [[nodiscard]] bool is_overdue(std::uint64_t received) const;
  [[nodiscard]] Outcome refused_status();
  bool take_header(std::string_view line);
  bool take_body(std::span<const std::uint8_t> bytes);
  void prepare_hop(bool keeps_headers);
  std::optional<Outcome> follow();
  Outcome failure(CURLcode code);
  Outcome end(Result<void> result);

  const Session& session_;
  Call call_;
  Easy easy_;
  HeaderList headers_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
  std::string url_;
  int redirects_ = 0;
  Head head_;
  bool in_body_ = false;
  std::string error_page_;       ///< the start of an answer that is no success
  std::uint64_t dropped_ = 0;    ///< body bytes of an answer nobody wants
  std::optional<Error> refusal_; ///< of the receiver
  std::optional<std::chrono::steady_clock::time_point> asked_; ///< the first request went out
  bool is_late_ = false;
};

} // namespace cukit::http
