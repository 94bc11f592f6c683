// Expected values: CUDA release notes and nvcc's documentation (architectures), the sources of
// FlashInfer, DeepGEMM and flash-attention (their least nvcc), Triton's table of ptxas versions.
#include "fit/targets.hpp"

#include <gtest/gtest.h>

namespace cukit::fit {
namespace {

Version v(std::string_view text) {
  return *Version::parse(text);
}
GpuTarget gpu(std::string_view text) {
  return *GpuTarget::parse(text);
}
const knowledge::Knowledge& recipes() {
  static const auto knowledge = knowledge::Knowledge::embedded();
  return knowledge;
}
const knowledge::Architecture& architecture(const char* target) {
  return *knowledge::find_architecture(**recipes().architectures(), gpu(target));
}
const knowledge::Consumer& consumer(std::string_view name) {
  for (const auto& one : **recipes().consumers()) {
    if (one.name == name) {
      return one;
    }
  }
  static const knowledge::Consumer none;
  ADD_FAILURE() << name;
  return none;
}

Answer nvcc(const char* cuda, const char* target) {
  return compiles_for(architecture(target), gpu(target), v(cuda)).answer;
}

TEST(Targets, begin_and_end_with_a_cuda) {
  EXPECT_EQ(nvcc("12.6", "sm_120"), Answer::no);
  EXPECT_EQ(nvcc("12.8.61", "sm_120"), Answer::yes);
  EXPECT_EQ(nvcc("12.9.86", "sm_70"), Answer::yes);
  EXPECT_EQ(nvcc("13.0", "sm_70"), Answer::no);
  EXPECT_EQ(nvcc("13.0", "sm_101"), Answer::no) << "renamed to sm_110";
  EXPECT_EQ(nvcc("13.0", "sm_110"), Answer::yes);
}

TEST(Targets, letters_have_a_cuda_of_their_own) {
  EXPECT_EQ(nvcc("12.8", "sm_120f"), Answer::no);
  EXPECT_EQ(nvcc("12.9", "sm_120f"), Answer::yes);
  EXPECT_EQ(nvcc("11.8", "sm_90a"), Answer::no);
  const auto none = compiles_for(architecture("sm_90"), gpu("sm_90f"), v("13.0"));
  EXPECT_TRUE(none.is_refused());
  EXPECT_EQ(none.bound, Bound::none);
  EXPECT_EQ(first_cuda(architecture("sm_90"), gpu("sm_90a")).text(), "12.0");
}

TEST(Targets, a_program_that_runs_ptxas_asks_with_the_letter) {
  const auto& all = **recipes().architectures();
  EXPECT_TRUE(assembles_for(all, gpu("sm_90"), v("11.8.89")).is_refused()) << "sm_90a is of 12.0";
  EXPECT_FALSE(assembles_for(all, gpu("sm_120"), v("12.8.93")).is_refused());
  EXPECT_TRUE(assembles_for(all, gpu("sm_103"), v("12.8.93")).is_refused());
  EXPECT_EQ(assembles_for(all, gpu("sm_999"), v("12.8")).answer, Answer::unknown);
}

TEST(Targets, the_closest_minimum_of_a_consumer_counts) {
  EXPECT_EQ(least_nvcc(consumer("flashinfer"), gpu("sm_121"))->text(), "12.9");
  EXPECT_EQ(least_nvcc(consumer("flashinfer"), gpu("sm_90a"))->text(), "12.3");
  EXPECT_EQ(least_nvcc(consumer("flashinfer"), gpu("sm_80")), std::nullopt);
  EXPECT_EQ(least_nvcc(consumer("deepgemm"), gpu("sm_100"))->text(), "12.9");
  EXPECT_EQ(least_nvcc(consumer("deepgemm"), gpu("sm_90"))->text(), "12.3");
  EXPECT_EQ(accepts_nvcc(consumer("flashinfer"), gpu("sm_120"), v("12.8")).answer, Answer::no);
  EXPECT_EQ(accepts_nvcc(consumer("flashinfer"), gpu("sm_80"), v("11.8")).answer, Answer::unknown);
  knowledge::Consumer two;
  two.minimum = {{"any", "13.0"}, {"9.0", "12.3"}};
  EXPECT_EQ(accepts_nvcc(two, gpu("sm_90"), v("12.4")).answer, Answer::yes);
}

TEST(Targets, consumers_have_ranges_of_ptxas) {
  const auto& triton = consumer("triton");
  const auto& old = knowledge::at_version(triton, v("3.3.0"));
  EXPECT_TRUE(accepts_ptxas(old, v("13.0.88")).is_refused());
  EXPECT_FALSE(accepts_ptxas(old, v("12.9.86")).is_refused());
  EXPECT_EQ(accepts_ptxas(triton, v("13.5.37")).answer, Answer::unknown);
}

} // namespace
} // namespace cukit::fit
