// Expected values: NVIDIA's redistrib manifests (full versions that were released together), and
// what ptxas, nvlink and CCCL's headers of CUDA 13 accept and refuse.
#include "fit/parts.hpp"

#include <gtest/gtest.h>

namespace cukit::fit {
namespace {

Version v(std::string_view text) {
  return *Version::parse(text);
}
const knowledge::Limits& limits() {
  static const auto recipes = knowledge::Knowledge::embedded();
  return **recipes.limits();
}

TEST(Parts, a_fit_tells_the_number_that_decides) {
  const auto fit = ptxas_beside(v("13.2.78"), v("13.0.88"));
  EXPECT_EQ(fit.answer, Answer::no);
  EXPECT_EQ(fit.bound, Bound::at_least);
  EXPECT_EQ(fit.version.text(), "13.2.78");
  const auto major = ptxas_beside(v("12.9.86"), v("13.0.88"));
  EXPECT_EQ(major.bound, Bound::same_major);
  EXPECT_FALSE(Fit{}.is_refused()) << "what is not known is let pass";
}

TEST(Parts, the_compiler_core_is_one_full_version) {
  EXPECT_EQ(core_part(v("13.0.88"), v("13.0.88")).answer, Answer::yes);
  EXPECT_EQ(core_part(v("13.0.88"), v("13.0.48")).answer, Answer::no);
}

TEST(Parts, what_has_nvccs_minor_may_have_another_patch) {
  // 13.0.2: nvcc 13.0.88 and cudart 13.0.96; 13.0.0: nvcc 13.0.48 and nvJitLink 13.0.39
  EXPECT_EQ(minor_part(v("13.0.88"), v("13.0.96")).answer, Answer::yes);
  EXPECT_EQ(minor_part(v("13.0.48"), v("13.0.39")).answer, Answer::yes);
  EXPECT_EQ(minor_part(v("13.0.88"), v("13.1.80")).answer, Answer::no);
  EXPECT_EQ(minor_part(v("13.1"), v("13.10")).answer, Answer::no) << "numbers, not text";
}

TEST(Parts, a_newer_ptxas_reads_older_ptx_and_never_the_other_way_round) {
  EXPECT_EQ(reads_ptx(v("13.0"), v("13.2")).answer, Answer::yes);
  EXPECT_EQ(reads_ptx(v("13.3.33"), v("13.0.88")).answer, Answer::no);
  EXPECT_EQ(reads_ptx(v("13.0.88"), v("13.0.48")).answer, Answer::yes) << "one PTX in a minor";
}

TEST(Parts, nvlink_comes_with_ptxas_and_takes_no_newer_device_runtime) {
  EXPECT_TRUE(linker_of(v("13.2.78"), v("13.0.88")).is_refused());
  EXPECT_TRUE(linker_of_minor(v("13.2"), v("13.0")).is_refused());
  EXPECT_FALSE(linker_of_minor(v("13.0.88"), v("13.0.48")).is_refused());
  EXPECT_TRUE(device_runtime(v("13.4.92"), v("13.5.37")).is_refused());
  EXPECT_FALSE(device_runtime(v("13.0.88"), v("13.0.96")).is_refused());
}

TEST(Parts, binary_utilities_read_what_older_minors_of_their_major_wrote) {
  EXPECT_EQ(binary_utility(v("13.0.88"), v("13.2.75")).answer, Answer::yes);
  EXPECT_EQ(binary_utility(v("13.2.78"), v("13.0.85")).bound, Bound::at_least);
  EXPECT_EQ(binary_utility(v("12.9.86"), v("13.2.75")).bound, Bound::same_major);
}

TEST(Parts, cccl_may_be_newer_than_its_release) {
  EXPECT_EQ(cccl_line(v("3.0"), v("3.5.0")).answer, Answer::yes);
  EXPECT_EQ(cccl_line(v("3.0"), v("2.8.5")).answer, Answer::no);
  // CUDA 12.0 ships Thrust 2.0 and libcu++ 1.9
  EXPECT_EQ(cccl_found(v("2.0"), v("1.9"), limits()).answer, Answer::unknown);
  EXPECT_EQ(cccl_found(v("2.4"), v("2.2"), limits()).answer, Answer::no);
}

TEST(Parts, the_stub_of_13_0_passes_a_second_argument) {
  EXPECT_EQ(launch_arguments(v("12.8.93"), limits()), 1);
  EXPECT_EQ(launch_arguments(v("13.0.88"), limits()), 2);
  EXPECT_EQ(launch_arguments(v("13.1.80"), limits()), 0);
}

TEST(Parts, wheels_hold_nvcc_since_13_0) {
  EXPECT_TRUE(compiler_in_wheels(v("12.9.86"), limits()).is_refused());
  EXPECT_FALSE(compiler_in_wheels(v("13.0"), limits()).is_refused());
}

TEST(Parts, the_old_arm_platform_ended_with_12_9) {
  const Platform jetson = Platform::Kind::linux_aarch64;
  EXPECT_EQ(ended_before(jetson, v("12.9.1"), limits()), nullptr);
  const auto* end = ended_before(jetson, v("13.0.2"), limits());
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->successor, Platform(Platform::Kind::linux_sbsa));
  EXPECT_EQ(ended_before(Platform::Kind::linux_sbsa, v("13.0"), limits()), nullptr);
}

TEST(Parts, extensions_of_torch_want_its_major) {
  EXPECT_FALSE(goes_with_torch(v("13.0"), v("13.2.78")).is_refused());
  EXPECT_TRUE(goes_with_torch(v("12.8"), v("13.0.88")).is_refused());
}

} // namespace
} // namespace cukit::fit
