#include "base/log.hpp"

#include <gtest/gtest.h>

namespace cukit {
namespace {

class Log : public testing::Test {
protected:
  ~Log() override { start_log(LogLevel::none); }

  static std::string written(const std::string& wish) {
    const auto wanted = log_wish(wish);
    start_log(wanted.level, wanted.modules);
    testing::internal::CaptureStderr();
    log_decision("resolve", "passed over {}", "13.4");
    log_detail("http", "GET {}", "x");
    log_detail("store", "{}", "\x1b[31m");
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, is_silent_until_somebody_asks) {
  EXPECT_EQ(written(""), "");
  EXPECT_EQ(written("0"), "");
}

TEST_F(Log, tells_decisions_then_details) {
  EXPECT_EQ(written("1"), "cukit resolve: passed over 13.4\n");
  EXPECT_EQ(written("2"), "cukit resolve: passed over 13.4\ncukit http: GET x\n"
                          "cukit store: \\x1b[31m\n");
}

TEST_F(Log, is_kept_to_the_modules_that_were_named) {
  EXPECT_EQ(written("http"), "cukit http: GET x\n");
  EXPECT_EQ(written("resolve,http"), "cukit resolve: passed over 13.4\ncukit http: GET x\n");
}

} // namespace
} // namespace cukit
