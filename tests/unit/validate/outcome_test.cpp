#include "validate/outcome.hpp"

#include <gtest/gtest.h>

namespace cukit::validate {
namespace {

constexpr std::chrono::seconds k_limit(60);

class Judged : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-judged-");
    ASSERT_TRUE(created);
    folder_.emplace(std::move(*created));
    program_.numbers["sum"] = Expected{.value = 12};
  }
  /// A file in the scratch folder; its path.
  std::string put(const std::string& name, const std::string& bytes) const {
    const auto path = folder_->path() / name;
    EXPECT_TRUE(write_file_atomic(path, bytes));
    return path.string();
  }
  void bundle_library(const std::string& name, const std::string& bytes) {
    libraries_.push_back({RelativePath::parse("lib/" + name).value(), sha256_of(bytes)});
  }
  [[nodiscard]] Outcome judged(const Finished& finished) const {
    return judge(finished, read_output(finished.output), program_, libraries_, k_limit);
  }
  [[nodiscard]] Outcome judged(const std::string& output) const {
    Finished finished;
    finished.output = output;
    return judged(finished);
  }

  Program program_;
  std::vector<BundleFile> libraries_;

private:
  std::optional<TempDirectory> folder_;
};

TEST_F(Judged, passes_with_the_right_number) {
  const auto outcome = judged("hello\nnumber sum 12\nloaded /usr/lib/libcuda.so.1\n");
  EXPECT_EQ(outcome.state, State::passed) << outcome.reason;
  EXPECT_EQ(outcome.reason, "");
}

TEST_F(Judged, fails_with_a_wrong_number_and_says_both) {
  const auto outcome = judged("number sum 12.5\n");
  EXPECT_EQ(outcome.state, State::failed);
  EXPECT_EQ(outcome.reason, "`sum` is 12.5, expected 12");
}

TEST_F(Judged, takes_numbers_up_to_their_tolerance) {
  program_.numbers["sum"].tolerance = 0.25;
  EXPECT_EQ(judged("number sum 12.25\n").state, State::passed);
  EXPECT_EQ(judged("number sum 11.75\n").state, State::passed);
  EXPECT_EQ(judged("number sum 12.26\n").state, State::failed);
}

TEST_F(Judged, never_passes_without_the_number) {
  EXPECT_EQ(judged("").state, State::failed);
  EXPECT_EQ(judged("number total 12\n").reason, "it printed no number `sum`");
  EXPECT_EQ(judged("number sum nan\n").state, State::failed);
  program_.numbers["sum"].tolerance = 1e300;
  EXPECT_EQ(judged("number sum nan\n").state, State::failed);
}

TEST_F(Judged, fails_with_lines_it_cannot_read) {
  EXPECT_EQ(judged("number sum 12 13\n").state, State::failed);
  EXPECT_EQ(judged("number sum 12x\n").state, State::failed);
  EXPECT_EQ(judged("number sum 12\nnumber sum 12\n").state, State::failed)
      << "the same number twice";
}

TEST_F(Judged, does_not_apply_when_the_program_says_so) {
  Finished finished{.exit_code = 77, .output = "skip the device has no clusters\n"};
  const auto outcome = judged(finished);
  EXPECT_EQ(outcome.state, State::not_applicable);
  EXPECT_EQ(outcome.reason, "the device has no clusters");
}

TEST_F(Judged, fails_when_it_skips_without_a_reason) {
  EXPECT_EQ(judged(Finished{.exit_code = 77}).state, State::failed);
  EXPECT_EQ(judged("skip it is Sunday\nnumber sum 13\n").state, State::failed)
      << "exit code 0 is no skip";
}

TEST_F(Judged, tells_how_a_program_ended) {
  EXPECT_EQ(
      judged(Finished{.exit_code = 1,
                      .errors = "first\nline 9: kernel: cudaErrorUnsupportedPtxVersion (222)\n"})
          .reason,
      "it ended with code 1: line 9: kernel: cudaErrorUnsupportedPtxVersion (222)");
  EXPECT_NE(judged(Finished{.exit_code = 139, .signal = 11}).reason.find("signal 11"),
            std::string::npos);
  EXPECT_EQ(judged(Finished{.exit_code = 137, .signal = 9, .timed_out = true}).reason,
            "it did not end within 60 s");
  EXPECT_EQ(judged(Finished{.output_was_cut = true, .output = "number sum 12\n"}).state,
            State::failed);
}

TEST_F(Judged, escapes_what_a_program_writes) {
  const auto outcome = judged(Finished{.exit_code = 1, .errors = "\x1b[2J gone"});
  EXPECT_EQ(outcome.reason.find('\x1b'), std::string::npos);
}

TEST_F(Judged, passes_with_the_bundles_own_library_under_its_full_name) {
  bundle_library("libcudart.so.13", "the tree's");
  program_.libraries = {"libcudart.so.13"};
  const auto path = put("libcudart.so.13.0.96", "the tree's");
  EXPECT_EQ(judged("number sum 12\nloaded " + path + "\n").state, State::passed);
}

TEST_F(Judged, fails_with_the_systems_library_and_names_it) {
  bundle_library("libcudart.so.13", "the tree's");
  program_.libraries = {"libcudart.so.13"};
  const auto path = put("libcudart.so.13", "the system's");
  const auto outcome = judged("number sum 12\nloaded " + path + "\n");
  EXPECT_EQ(outcome.state, State::failed);
  EXPECT_NE(outcome.reason.find(path), std::string::npos) << outcome.reason;
}

TEST_F(Judged, fails_when_a_library_is_gone_or_was_never_loaded) {
  bundle_library("libcudart.so.13", "the tree's");
  EXPECT_EQ(judged("number sum 12\nloaded /nowhere/libcudart.so.13\n").state, State::failed);
  program_.libraries = {"libcudart.so.13"};
  EXPECT_EQ(judged("number sum 12\n").reason, "it did not load libcudart.so.13");
}

TEST_F(Judged, does_not_ask_for_builtins_that_are_loaded_on_demand) {
  bundle_library("libnvrtc-builtins.so.13.0", "b");
  program_.libraries = {"libnvrtc-builtins.so.13.0"};
  EXPECT_EQ(judged("number sum 12\n").state, State::passed);
  const auto path = put("libnvrtc-builtins.so.13.0", "other");
  EXPECT_EQ(judged("number sum 12\nloaded " + path + "\n").state, State::failed)
      << "but compares them";
}

TEST_F(Judged, does_not_take_nvrtc_for_its_builtins) {
  bundle_library("libnvrtc.so.13", "n");
  bundle_library("libnvrtc-builtins.so.13.0", "b");
  const auto nvrtc = put("libnvrtc.so.13", "n");
  const auto builtins = put("libnvrtc-builtins.so.13.0", "b");
  EXPECT_EQ(judged("number sum 12\nloaded " + nvrtc + "\nloaded " + builtins + "\n").state,
            State::passed);
}

} // namespace
} // namespace cukit::validate
