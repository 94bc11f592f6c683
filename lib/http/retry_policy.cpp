#include "http/client.hpp"

#include <algorithm>

namespace cukit::http {

namespace {

/// 501, 505 and 511 say that the same question will have the same answer.
bool is_transient(int status) {
  return status == 408 || status == 429 ||
         (status >= 500 && status <= 599 && status != 501 && status != 505 && status != 511);
}

constexpr std::chrono::milliseconds k_longest_step = std::chrono::seconds(30);

} // namespace

std::optional<std::chrono::milliseconds> retry_delay(const Attempt& attempt, const Options& options,
                                                     double jitter_0_to_1) {
  if (attempt.number >= options.attempts ||
      !(attempt.transport_failed || is_transient(attempt.status))) {
    return std::nullopt;
  }
  const auto asked =
      std::clamp(attempt.retry_after.value_or(std::chrono::seconds(0)), std::chrono::seconds(0),
                 std::chrono::seconds(limits::k_retry_after_seconds));
  // A server that puts us off again and again is not waited for longer than one that does it once.
  if (asked * attempt.number > std::chrono::seconds(limits::k_retry_after_seconds)) {
    return std::nullopt;
  }
  auto step = options.first_delay;
  for (int i = 1; i < attempt.number && step < k_longest_step; ++i) {
    step *= 2;
  }
  step = std::min(step, k_longest_step);
  const auto random = static_cast<std::chrono::milliseconds::rep>(
      static_cast<double>(step.count()) * std::clamp(jitter_0_to_1, 0.0, 1.0));
  return std::chrono::milliseconds(asked) + std::chrono::milliseconds(random);
}

} // namespace cukit::http
