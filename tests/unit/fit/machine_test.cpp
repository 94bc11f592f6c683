// Expected values: CUDA release notes and Compatibility guide (drivers), CUDA Installation Guide
// and crt/host_config.h (compilers), reports of the clashes with glibc 2.41 and 2.42.
#include "fit/machine.hpp"

#include <gtest/gtest.h>

namespace cukit::fit {
namespace {

Version v(std::string_view text) {
  return *Version::parse(text);
}
const knowledge::Knowledge& recipes() {
  static const auto knowledge = knowledge::Knowledge::embedded();
  return knowledge;
}
const knowledge::Limits& limits() {
  return **recipes().limits();
}
const knowledge::Release& cuda(std::string_view minor) {
  return *knowledge::find_release(**recipes().releases(), v(minor));
}

TEST(Machine, a_driver_runs_every_minor_of_its_major) {
  EXPECT_EQ(runs_on_driver(cuda("12.9"), v("525.60.13")).answer, Answer::yes);
  EXPECT_EQ(runs_on_driver(cuda("13.5"), v("580.65.06")).answer, Answer::yes);
  const auto fit = runs_on_driver(cuda("13.0"), v("575.57.08"));
  EXPECT_TRUE(fit.is_refused());
  EXPECT_EQ(fit.version.text(), "580");
}

TEST(Machine, a_driver_compiles_no_ptx_newer_than_its_own) {
  // seen on an H200 with 580.159.04: .version 9.1 and 9.2 end with error 222, 9.0 runs
  const auto* own = cuda_of_driver(**recipes().releases(), v("580.159.04"));
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->minor.text(), "13.0");
  EXPECT_FALSE(ptx_on_driver(cuda("13.0"), *own).is_refused());
  EXPECT_FALSE(ptx_on_driver(cuda("12.9"), *own).is_refused());
  const auto fit = ptx_on_driver(cuda("13.1"), *own);
  EXPECT_TRUE(fit.is_refused());
  EXPECT_EQ(fit.version.text(), "9.0");
  EXPECT_EQ(cuda_of_driver(**recipes().releases(), v("470.82")), nullptr);
}

TEST(Machine, headers_of_a_cuda_accept_compilers_up_to_a_major) {
  const auto gcc = [](const char* minor, int major) {
    return host_compiler(compilers_of(cuda(minor)), "gcc", major).answer;
  };
  EXPECT_EQ(gcc("12.4", 13), Answer::yes);
  EXPECT_EQ(gcc("12.3", 13), Answer::no);
  EXPECT_EQ(gcc("13.0", 15), Answer::yes);
  EXPECT_EQ(gcc("13.0", 16), Answer::no);
  const auto clang = [](const char* minor, int major) {
    return host_compiler(compilers_of(cuda(minor)), "clang", major);
  };
  EXPECT_EQ(clang("13.0", 20).answer, Answer::yes);
  EXPECT_EQ(clang("13.0", 21).bound, Bound::at_most);
  EXPECT_EQ(clang("13.0", 6).bound, Bound::at_least);
  EXPECT_EQ(host_compiler(compilers_of(cuda("13.0")), "nvc++", 26).answer, Answer::unknown);
  EXPECT_EQ(host_compiler({}, "gcc", 99).answer, Answer::unknown);
}

TEST(Machine, c_libraries_clash_with_older_headers) {
  const auto clash = [](const char* minor, const char* glibc) {
    const auto* found = c_library_clash(limits(), v(minor), v(glibc));
    return found == nullptr ? std::string() : found->functions.front();
  };
  EXPECT_EQ(clash("12.8", "2.40"), "");
  EXPECT_EQ(clash("12.9.86", "2.41"), "sinpi");
  EXPECT_EQ(clash("13.0", "2.41"), "");
  EXPECT_EQ(clash("13.1", "2.42"), "rsqrt");
  EXPECT_EQ(clash("12.8", "2.42"), "rsqrt");
  EXPECT_EQ(clash("13.2", "2.43"), "");
}

} // namespace
} // namespace cukit::fit
