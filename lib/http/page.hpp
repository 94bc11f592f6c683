// Receivers of an answer: a page kept in memory, or a file handed on to a Sink.
#pragma once

#include "http/exchange.hpp"

namespace cukit::http {

class PageReceiver final : public Receiver {
public:
  /// `room`: bytes that all pages together may still bring; both must outlive it.
  PageReceiver(const Request& request, std::uint64_t& room) : request_(request), room_(room) {}
  [[nodiscard]] Call call();
  Result<void> start(const Head& head) override;
  Result<void> write(std::span<const std::uint8_t> bytes) override;
  /// Whether the answer did not fit the range that was asked for; its body was not waited for.
  [[nodiscard]] bool is_range_refused() const { return range_refused_; }
  /// After a good outcome: whether everything has arrived.
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] Response take(const Outcome& outcome);

private:
  Result<void> check_range(const Head& head);
  const Request& request_;
  std::uint64_t& room_;
  bool range_refused_ = false;
  std::string body_;
};

class FileReceiver final : public Receiver {
public:
  FileReceiver(Download download, bool is_retry)
      : download_(std::move(download)), is_retry_(is_retry) {}
  [[nodiscard]] Call call();
  Result<void> start(const Head& head) override;
  Result<void> write(std::span<const std::uint8_t> bytes) override;
  [[nodiscard]] Ended ended(Outcome outcome) const;

private:
  Result<void> refuse_range(std::string why);
  Download download_;
  bool is_retry_;
  std::uint64_t position_ = 0;
  std::optional<std::uint64_t> total_;
  bool range_refused_ = false;
};

} // namespace cukit::http
