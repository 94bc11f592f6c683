#include "http/client.hpp"

#include <gtest/gtest.h>

namespace cukit::http {
namespace {

using namespace std::chrono_literals;

Options options() {
  Options result;
  result.attempts = 5;
  result.first_delay = 500ms;
  return result;
}

TEST(RetryDelay, doubles_with_each_attempt_up_to_a_cap) {
  const std::pair<int, std::chrono::milliseconds> cases[] = {
      {1, 500ms}, {2, 1000ms}, {3, 2000ms}, {4, 4000ms}};
  for (const auto& [number, longest] : cases) {
    const Attempt attempt{.transport_failed = true, .number = number};
    EXPECT_EQ(retry_delay(attempt, options(), 1.0), longest) << number;
    EXPECT_EQ(retry_delay(attempt, options(), 0.5), longest / 2) << number;
    EXPECT_EQ(retry_delay(attempt, options(), 0.0), 0ms) << number;
  }
  auto patient = options();
  patient.attempts = 1000;
  EXPECT_EQ(retry_delay({.transport_failed = true, .number = 900}, patient, 1.0), 30s);
}

TEST(RetryDelay, ends_after_the_last_attempt) {
  EXPECT_FALSE(retry_delay({.transport_failed = true, .number = 5}, options(), 1.0));
  EXPECT_FALSE(retry_delay({.status = 503, .number = 6}, options(), 1.0));
}

TEST(RetryDelay, row17_tries_again_only_what_may_change) {
  for (const int status : {408, 429, 500, 502, 503, 504, 507, 599}) {
    EXPECT_TRUE(retry_delay({.status = status}, options(), 0.5)) << status;
  }
  for (const int status :
       {0, 200, 301, 400, 401, 403, 404, 407, 410, 416, 418, 501, 505, 511, 600}) {
    EXPECT_FALSE(retry_delay({.status = status}, options(), 0.5)) << status;
  }
}

TEST(RetryDelay, row17_waits_at_least_as_long_as_asked_but_not_for_ever) {
  const std::pair<std::chrono::seconds, std::chrono::milliseconds> cases[] = {
      {0s, 250ms}, {7s, 7250ms}, {300s, 300'250ms}, {86400s, 300'250ms}, {-5s, 250ms}};
  for (const auto& [asked, expected] : cases) {
    EXPECT_EQ(retry_delay({.status = 429, .retry_after = asked}, options(), 0.5), expected)
        << asked.count();
  }
}

TEST(RetryDelay, puts_up_with_being_put_off_only_so_often) {
  const auto asked = std::chrono::seconds(120);
  EXPECT_TRUE(retry_delay({.status = 503, .retry_after = asked, .number = 1}, options(), 0.5));
  EXPECT_TRUE(retry_delay({.status = 503, .retry_after = asked, .number = 2}, options(), 0.5));
  EXPECT_FALSE(retry_delay({.status = 503, .retry_after = asked, .number = 3}, options(), 0.5));
}

} // namespace
} // namespace cukit::http
