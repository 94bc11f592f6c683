#include "validate/validate.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cukit::validate {
namespace {

Report sample() {
  Report report;
  report.tree_content = "sha256:00";
  report.release = "13.0.2";
  report.host_compiler = "gcc 12.2.0 (/usr/bin/g++)";
  report.driver = "580.95.5 (CUDA 13.0)";
  report.gpus = {"0: NVIDIA H200"};
  report.builds = {
      {.kernel = "plain", .target = "sm_90", .state = State::passed, .reason = "", .seconds = 1.25},
      {.kernel = "hopper",
       .target = "sm_90a",
       .state = State::failed,
       .reason = "nvcc ended with code 1",
       .seconds = 0},
      {.kernel = "nvrtc",
       .target = "sm_90",
       .state = State::not_applicable,
       .reason = "the toolkit has no nvrtc",
       .seconds = 0}};
  report.runs = {{.kernel = "plain",
                  .target = "sm_90",
                  .gpu = "0: NVIDIA H200",
                  .state = State::passed,
                  .reason = "",
                  .numbers = {{"sum", 12}}},
                 {.kernel = "plain",
                  .target = "sm_120",
                  .gpu = "",
                  .state = State::not_run,
                  .reason = "no GPU",
                  .numbers = {}}};
  return report;
}

TEST(ValidationReport, has_the_fields_that_scripts_rely_on) {
  const auto json = sample().json();
  EXPECT_EQ(json.text_of("schema"), "cukit.validate/1");
  const auto* builds = json.find("builds");
  ASSERT_NE(builds, nullptr);
  ASSERT_EQ(builds->items().size(), 3U);
  for (const auto& build : builds->items()) {
    for (const char* key : {"kernel", "target", "state", "reason"}) {
      EXPECT_NE(build.find(key), nullptr) << key;
    }
  }
  EXPECT_EQ(builds->items()[2].text_of("state"), "not_applicable");
  const auto* runs = json.find("runs");
  ASSERT_NE(runs, nullptr);
  for (const auto& run : runs->items()) {
    for (const char* key : {"kernel", "target", "gpu", "state", "reason", "numbers"}) {
      EXPECT_NE(run.find(key), nullptr) << key;
    }
  }
  EXPECT_EQ(runs->items()[1].text_of("state"), "not_run");
  const auto* counts = json.find("counts");
  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(counts->find("passed")->integer(), 2);
  EXPECT_EQ(counts->find("failed")->integer(), 1);
}

TEST(ValidationReport, is_read_as_it_was_written) {
  const auto text = sample().json().dump();
  const auto json = text::Json::parse(text, "report");
  ASSERT_TRUE(json);
  const auto report = Report::from_json(*json);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->json().dump(), text);
}

TEST(ValidationReport, fails_by_failures_alone) {
  auto report = sample();
  EXPECT_TRUE(report.has_failure());
  report.builds[1].state = State::not_run;
  EXPECT_FALSE(report.has_failure());
}

TEST(ValidationReport, never_reads_an_unknown_state_as_a_pass) {
  auto json = text::Json::parse(
      R"({"schema": "cukit.validate/1", "builds": [{"kernel": "a", "state": "fine"}], "runs": []})",
      "report");
  ASSERT_TRUE(json);
  EXPECT_TRUE(Report::from_json(*json).value().has_failure());
}

TEST(ValidationReport, stays_json_with_a_number_that_json_cannot_hold) {
  auto report = sample();
  report.runs[0].numbers["bad"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(text::Json::parse(report.json().dump(), "report"));
}

TEST(ValidationReport, of_another_schema_is_refused) {
  auto json =
      text::Json::parse(R"({"schema": "cukit.validate/2", "builds": [], "runs": []})", "report");
  ASSERT_TRUE(json);
  EXPECT_FALSE(Report::from_json(*json));
  EXPECT_FALSE(Report::from_json(text::Json::object()));
}

} // namespace
} // namespace cukit::validate
