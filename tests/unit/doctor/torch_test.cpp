// torch's wheels and GPUs: expected values are PyTorch's RELEASE.md, CUDA architectures of each
// build.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

Diagnosis with_torch(const char* torch, const char* cuda, const char* target,
                     const char* driver = "590.48.01") {
  Scene scene;
  venv(scene, "", "", torch, cuda);
  gpu(scene, target);
  scene.question.driver = *Version::parse(driver);
  return diagnosis_of(scene);
}

TEST(Torch, a_gpu_that_the_wheel_has_no_code_for_comes_first) {
  const auto diagnosis = with_torch("2.5.1+cu121", "12.1", "sm_120");
  ASSERT_FALSE(diagnosis.findings.empty());
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, "torch-has-no-code");
  EXPECT_EQ(first.severity, Severity::error);
  EXPECT_THAT(first.cause,
              HasSubstr("sm_50, sm_60, sm_70, sm_75, sm_80, sm_86, sm_90, and no PTX"));
  EXPECT_THAT(first.fix.front().text(), HasSubstr("--torch-backend=cu128 torch==2.7.0"));
  for (const auto& consumer : diagnosis.consumers) {
    EXPECT_NE(consumer.verdict, Verdict::works) << consumer.consumer;
  }
}

TEST(Torch, an_old_gpu_is_offered_the_build_that_still_has_it) {
  const auto diagnosis = with_torch("2.8.0+cu128", "12.8", "sm_61");
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().id, "torch-has-no-code");
  EXPECT_THAT(diagnosis.findings.front().fix.front().text(),
              HasSubstr("--torch-backend=cu126 torch==2.8.0"));
}

/// A driver of branch 550 runs CUDA 12 and no CUDA 13.
TEST(Torch, no_build_is_offered_that_the_driver_does_not_run) {
  const auto diagnosis = with_torch("2.5.1+cu121", "12.1", "sm_120", "570.86.10");
  ASSERT_FALSE(diagnosis.findings.empty());
  for (const auto& fix : diagnosis.findings.front().fix) {
    EXPECT_THAT(fix.text(), Not(HasSubstr("cu13")));
  }
}

TEST(Torch, a_build_that_serves_the_gpu_is_silent) {
  for (const auto* target : {"sm_75", "sm_89", "sm_90", "sm_103", "sm_120", "sm_121"}) {
    EXPECT_THAT(told(with_torch("2.11.0+cu130", "13.0", target)),
                Not(HasSubstr("torch-has-no-code")))
        << target;
  }
  EXPECT_THAT(told(with_torch("2.99.0+cu130", "13.0", "sm_61")),
              Not(HasSubstr("torch-has-no-code")))
      << "what is not known is not blamed";
}

} // namespace
} // namespace cukit::doctor
