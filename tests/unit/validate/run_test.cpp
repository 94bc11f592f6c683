#include "fixture.hpp"
#include "validate/run.hpp"

#include <fstream>
#include <sys/stat.h>
#include <thread>

namespace cukit::validate {
namespace {

constexpr const char* k_right = "echo number sum 12";

class RunTest : public BundleFixture {
protected:
  [[nodiscard]] Report run_on(const machine::Devices& devices, RunLimits limits = {}) {
    save();
    auto report = run_limited(folder(), devices, limits, silent_, {});
    EXPECT_TRUE(report) << report.error().message;
    return report ? *std::move(report) : Report{};
  }
  static machine::Devices one_gpu() {
    return {.driver = std::nullopt, .gpus = {gpu(0, "NVIDIA H200", "sm_90")}, .why_none = ""};
  }
  /// The result of the only run.
  RunResult only_run(const std::string& body, RunLimits limits = {}) {
    add("plain", "sm_90", body);
    const auto report = run_on(one_gpu(), limits);
    EXPECT_EQ(report.runs.size(), 1U);
    return report.runs.empty() ? RunResult{} : report.runs.front();
  }
  Silent silent_;
};

TEST_F(RunTest, passes_a_program_that_prints_the_right_number) {
  const auto run = only_run(k_right);
  EXPECT_EQ(run.state, State::passed) << run.reason;
  EXPECT_EQ(run.gpu, "0: NVIDIA H200");
  EXPECT_EQ(run.numbers.at("sum"), 12);
}

TEST_F(RunTest, row41_fails_a_program_with_a_wrong_number) {
  const auto run = only_run("echo number sum 11");
  EXPECT_EQ(run.state, State::failed);
  EXPECT_EQ(run.numbers.at("sum"), 11);
}

TEST_F(RunTest, row41_ends_a_program_that_hangs) {
  const auto run =
      only_run("exec tail -f /dev/null", {.time = std::chrono::seconds(1), .output_bytes = 1024});
  EXPECT_EQ(run.state, State::failed);
  EXPECT_EQ(run.reason, "it did not end within 1 s");
}

TEST_F(RunTest, row41_reads_a_flood_of_output_without_keeping_it) {
  const auto run = only_run("echo number sum 12; head -c 64000000 /dev/zero");
  EXPECT_EQ(run.state, State::failed);
  EXPECT_NE(run.reason.find("printed more than"), std::string::npos) << run.reason;
}

TEST_F(RunTest, row41_survives_a_program_that_crashes) {
  const auto run = only_run("echo number sum 12; kill -SEGV $$");
  EXPECT_EQ(run.state, State::failed);
  EXPECT_NE(run.reason.find("signal 11"), std::string::npos) << run.reason;
}

TEST_F(RunTest, row41_one_bad_program_does_not_touch_the_next) {
  // Hangs, floods, forks and leaves a child behind, crashes: and then one that is good.
  add("hangs", "sm_90", "exec tail -f /dev/null");
  add("floods", "sm_90", "echo number sum 12; head -c 3000000 /dev/zero");
  add("forks", "sm_90", "echo number sum 12; (trap '' TERM; exec tail -f /dev/null) & exit 1");
  add("crashes", "sm_90", "kill -SEGV $$");
  add("sticks", "sm_90", "echo 'cudaErrorIllegalAddress (700)' >&2; exit 1");
  add("good", "sm_90", k_right);
  const auto report =
      run_on(one_gpu(), {.time = std::chrono::seconds(1), .output_bytes = 1U << 20U});
  ASSERT_EQ(report.runs.size(), 6U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(report.runs[i].state, State::failed) << report.runs[i].kernel;
    EXPECT_FALSE(report.runs[i].reason.empty()) << report.runs[i].kernel;
  }
  EXPECT_EQ(report.runs[5].state, State::passed) << report.runs[5].reason;
}

TEST_F(RunTest, takes_a_skip_with_a_reason_for_what_it_is) {
  const auto run = only_run("echo skip no cooperative launch; exit 77");
  EXPECT_EQ(run.state, State::not_applicable);
  EXPECT_EQ(run.reason, "no cooperative launch");
}

TEST_F(RunTest, row40_fails_a_program_that_loaded_another_library_than_the_bundles) {
  add_library("libcudart.so.13", "the tree's");
  ASSERT_TRUE(write_file_atomic(folder() / "libcudart.so.13", "the system's"));
  const auto run = only_run("echo number sum 12; echo loaded $PWD/libcudart.so.13");
  EXPECT_EQ(run.state, State::failed);
  EXPECT_NE(run.reason.find("not the toolkit's libcudart.so.13"), std::string::npos) << run.reason;
}

TEST_F(RunTest, gives_programs_an_environment_made_of_nothing) {
  add("plain", "sm_90", "env; echo number sum 12");
  add("checked", "sm_90",
      "[ \"$CUDA_VISIBLE_DEVICES\" = GPU-0 ] && [ \"$CUDA_CACHE_DISABLE\" = 1 ] && [ "
      "\"$LD_LIBRARY_PATH\" = /opt/driver ] &&"
      " [ -z \"$HOME\" ] && echo number sum 12");
  auto devices = one_gpu();
  devices.driver = machine::Driver{.version = Version::parse("580.95.05").value(),
                                   .cuda = Version::parse("13.0").value(),
                                   .library = "/opt/driver/libcuda.so.1"};
  const auto report = run_on(devices);
  ASSERT_EQ(report.runs.size(), 2U);
  EXPECT_EQ(report.runs[1].state, State::passed) << report.runs[1].reason;
  EXPECT_EQ(report.driver, "580.95.05 (CUDA 13.0)");
}

TEST_F(RunTest, runs_each_program_on_every_gpu_that_can) {
  add("plain", "sm_90", k_right);
  add("plain", "sm_120", k_right);
  add("family", "sm_120f", k_right);
  add("exact", "sm_120a", k_right);
  const machine::Devices devices{
      .driver = std::nullopt,
      .gpus = {gpu(0, "NVIDIA H200", "sm_90"), gpu(1, "RTX", "sm_120"), gpu(2, "GB10", "sm_121")},
      .why_none = ""};
  const auto report = run_on(devices);
  std::vector<std::string> seen;
  for (const auto& run : report.runs) {
    EXPECT_EQ(run.state, State::passed) << run.kernel << run.reason;
    seen.push_back(run.kernel + " " + run.target + " " + run.gpu);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"plain sm_90 0: NVIDIA H200", "plain sm_120 1: RTX",
                                            "plain sm_120 2: GB10", "family sm_120f 1: RTX",
                                            "family sm_120f 2: GB10", "exact sm_120a 1: RTX"}));
  EXPECT_EQ(report.gpus.size(), 3U);
}

TEST_F(RunTest, row40_says_that_no_gpu_here_runs_a_target) {
  add("plain", "sm_120", k_right);
  const auto report = run_on(one_gpu());
  ASSERT_EQ(report.runs.size(), 1U);
  EXPECT_EQ(report.runs[0].state, State::not_run);
  EXPECT_EQ(report.runs[0].reason, "no GPU here runs sm_120: NVIDIA H200 is sm_90");
  EXPECT_FALSE(report.has_failure());
}

TEST_F(RunTest, row40_without_a_gpu_is_not_run_and_not_passed) {
  add("plain", "sm_90", "exit 1");
  const auto report = run_on({.driver = std::nullopt, .gpus = {}, .why_none = "no NVIDIA driver"});
  ASSERT_EQ(report.runs.size(), 1U);
  EXPECT_EQ(report.runs[0].state, State::not_run);
  EXPECT_EQ(report.runs[0].reason, "no NVIDIA driver");
  EXPECT_EQ(report.count(State::passed), 1) << "the build";
  EXPECT_EQ(report.count(State::not_run), 1);
}

TEST_F(RunTest, starts_nothing_from_a_folder_that_was_changed) {
  add("plain", "sm_90", k_right);
  save();
  ASSERT_TRUE(write_file_atomic(folder() / "bin/plain.sm_90", "#!/bin/sh\ntouch ran\n", 0755));
  const auto report = run(folder(), one_gpu(), silent_, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::integrity);
  EXPECT_FALSE(path_exists(folder() / "ran"));
}

TEST_F(RunTest, keeps_the_results_of_the_builds) {
  add("plain", "sm_90", k_right);
  bundle_.report.builds.push_back(BuildResult{.kernel = "broken",
                                              .target = "sm_90",
                                              .state = State::failed,
                                              .reason = "nvcc",
                                              .seconds = 0});
  const auto report = run_on(one_gpu());
  EXPECT_EQ(report.builds.size(), 2U);
  EXPECT_TRUE(report.has_failure());
}

TEST_F(RunTest, ends_at_once_when_it_is_asked_to_stop) {
  const auto fifo = folder() / "started";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  add("plain", "sm_90", "echo up >started; exec tail -f /dev/null");
  save();
  std::stop_source source;
  const std::jthread stopper([&] {
    std::ifstream stream(fifo); // opens when the program does
    std::string word;
    stream >> word;
    source.request_stop();
  });
  const auto report = run(folder(), one_gpu(), silent_, source.get_token());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::interrupted);
}

} // namespace
} // namespace cukit::validate
