#include "fit/machine.hpp"
#include "resolve/rules.hpp"
#include "resolve/search.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cukit::resolve {
namespace {

Version v(std::string_view text) {
  return *Version::parse(text);
}
GpuTarget gpu(std::string_view text) {
  return *GpuTarget::parse(text);
}

const knowledge::Limits& limits() {
  static const auto recipes = knowledge::Knowledge::embedded();
  return **recipes.limits();
}

knowledge::Release release(std::string_view minor, std::string_view ptx, int branch) {
  knowledge::Release result;
  result.minor = v(minor);
  result.ptx = v(ptx);
  result.driver_branch = branch;
  result.driver_floor = 580;
  result.cccl = v("3.0");
  result.gcc_max = 15;
  result.clang_min = 7;
  result.clang_max = 20;
  return result;
}

TEST(Rules, have_names_of_their_own_and_a_source) {
  std::set<std::string_view> names;
  for (const auto* rule : rules::all()) {
    EXPECT_TRUE(names.insert(rule->id).second) << rule->id;
    EXPECT_FALSE(rule->source.empty()) << rule->id;
    EXPECT_FALSE(rule->statement.empty()) << rule->id;
  }
}

TEST(Rules, the_compiler_core_is_one_full_version) {
  EXPECT_FALSE(rules::compiler_core(v("13.0.88"), "crt", v("13.0.88")));
  EXPECT_FALSE(rules::compiler_core(v("13.0.88"), "crt", v("13.0.88.0")));
  EXPECT_TRUE(rules::compiler_core(v("13.0.88"), "crt", v("13.0.48")));
}

TEST(Rules, ptxas_goes_with_its_nvlink_and_is_never_older) {
  EXPECT_FALSE(rules::ptxas_pair(v("13.0.88"), v("13.0.88"), v("13.0.88")));
  EXPECT_FALSE(rules::ptxas_pair(v("13.0.88"), v("13.2.78"), v("13.2.78")));
  EXPECT_TRUE(rules::ptxas_pair(v("13.0.88"), v("13.2.78"),
                                v("13.0.88"))); // nvlink: newer than toolkit (132 vs 130)
  EXPECT_TRUE(
      rules::ptxas_pair(v("13.2.78"), v("13.0.88"), v("13.0.88"))); // unsupported .version 9.2
  EXPECT_TRUE(rules::ptxas_pair(v("13.0.88"), v("14.0.1"), v("14.0.1")));
}

TEST(Rules, minors_are_numbers_and_not_text) {
  EXPECT_TRUE(rules::runtime_minor(v("13.1.80"), "cudart", v("13.10.1")));
  EXPECT_FALSE(rules::runtime_minor(v("13.10.80"), "cudart", v("13.10.1")));
  EXPECT_FALSE(rules::binary_utilities(v("13.9.1"), "cuobjdump", v("13.10.1")));
  EXPECT_TRUE(rules::binary_utilities(v("13.10.1"), "cuobjdump", v("13.9.1")));
  EXPECT_TRUE(rules::binary_utilities(v("13.0.1"), "cuobjdump", v("14.0.1")));
}

TEST(Rules, nvjitlink_has_nvccs_minor_whatever_the_patch) {
  EXPECT_FALSE(rules::jit_linker(v("13.0.48"), v("13.0.39"))); // CUDA 13.0.0 itself ships these two
  EXPECT_TRUE(rules::jit_linker(v("13.0.48"), v("13.2.78")));
}

TEST(Rules, the_device_runtime_is_not_newer_than_nvlink) {
  EXPECT_FALSE(rules::device_runtime(v("13.0.96"), v("13.0.88")));
  EXPECT_FALSE(rules::device_runtime(v("13.0.96"), v("13.2.78")));
  EXPECT_TRUE(rules::device_runtime(v("13.5.37"), v("13.4.92"))); // newer than toolkit (135 vs 134)
}

TEST(Rules, cccl_numbers_are_read_from_packages) {
  const std::vector<knowledge::Release> releases{release("13.2", "9.2", 595)};
  EXPECT_EQ(rules::cccl_of_package(v("13.3.5.0.6"), releases).text(), "3.5.0");
  EXPECT_EQ(rules::cccl_of_package(v("13.3.3.3.1"), releases).text(), "3.3.3");
  EXPECT_EQ(rules::cccl_of_package(v("13.2.75"), releases).text(),
            "3.0"); // the line that the release has here
  EXPECT_FALSE(rules::cccl(v("3.0"), v("3.5.0")));
  EXPECT_TRUE(rules::cccl(v("3.5"), v("3.0.1")));
}

TEST(Rules, gpus_begin_and_end) {
  knowledge::Architecture architecture;
  architecture.target = gpu("sm_120");
  architecture.name = "Blackwell";
  architecture.first_cuda = v("12.8");
  architecture.f_since = v("12.9");
  EXPECT_TRUE(rules::gpu_range(architecture, gpu("sm_120"), v("12.6")));
  EXPECT_FALSE(rules::gpu_range(architecture, gpu("sm_120"), v("12.8")));
  EXPECT_TRUE(rules::gpu_range(architecture, gpu("sm_120f"), v("12.8")));
  EXPECT_FALSE(rules::gpu_range(architecture, gpu("sm_120f"), v("12.9.1")));
  EXPECT_TRUE(rules::gpu_range(architecture, gpu("sm_120a"), v("13.0"))); // not in this table
  architecture.last_cuda = v("12.9");
  EXPECT_FALSE(rules::gpu_range(architecture, gpu("sm_120"), v("12.9.5")));
  EXPECT_TRUE(rules::gpu_range(architecture, gpu("sm_120"), v("13.0")));
}

TEST(Rules, row40_drivers_older_than_the_release_needs_are_refused) {
  const std::vector<knowledge::Release> releases{release("13.0", "9.0", 580),
                                                 release("13.2", "9.2", 595)};
  EXPECT_FALSE(rules::driver_floor(releases[1], v("580.65.06")));
  EXPECT_TRUE(rules::driver_floor(releases[1], v("575.57.08")));
  EXPECT_EQ(fit::cuda_of_driver(releases, v("590.1"))->minor.text(), "13.0");
  EXPECT_EQ(fit::cuda_of_driver(releases, v("595"))->minor.text(), "13.2");
  EXPECT_EQ(fit::cuda_of_driver(releases, v("570")), nullptr);
  EXPECT_TRUE(rules::ptx_of_driver(releases[1], releases[0]));
  EXPECT_FALSE(rules::ptx_of_driver(releases[0], releases[1]));
}

TEST(Rules, the_oldest_driver_of_a_range) {
  const std::pair<const char*, const char*> cases[] = {
      {">=580", "580"},        {">=580.65.06", "580.65.6"},
      {"==580.*", "580"},      {">579", "579.1"},
      {"<600", "0"},           {"!=590", "0"},
      {">=590,<600", "590"},   {"~=580.1", "580.1"},
      {">=580,!=580", "580.1"}};
  for (const auto& [range, oldest] : cases) {
    EXPECT_EQ(rules::oldest_driver(*VersionRange::parse(range)), v(oldest)) << range;
  }
}

TEST(Rules, row40_a_host_compiler_newer_than_the_headers_take_is_refused) {
  const auto cuda = release("13.0", "9.0", 580);
  const auto with = [&](const char* kind, const char* version) {
    return rules::host_compiler(cuda, {.path = "/usr/bin/c++", .kind = kind, .version = v(version)})
        .has_value();
  };
  EXPECT_FALSE(with("gcc", "15.2"));
  EXPECT_TRUE(with("gcc", "16.0.1"));
  EXPECT_FALSE(with("clang", "20.1"));
  EXPECT_TRUE(with("clang", "21"));
  EXPECT_TRUE(with("clang", "6"));
  EXPECT_FALSE(with("nvc++", "26")); // not judged
}

TEST(Rules, c_libraries) {
  EXPECT_FALSE(rules::c_library(limits(), v("12.9"), v("2.40")));
  EXPECT_TRUE(rules::c_library(limits(), v("12.9"), v("2.41")));
  EXPECT_FALSE(rules::c_library(limits(), v("13.0"), v("2.41")));
  EXPECT_TRUE(rules::c_library(limits(), v("13.1"), v("2.42")));
  EXPECT_FALSE(rules::c_library(limits(), v("13.2"), v("2.42")));
}

TEST(Rules, consumers_have_minimums_of_their_own) {
  knowledge::Consumer consumer;
  consumer.name = "flashinfer";
  consumer.minimum = {{"12.x", "12.9"}, {"9.0", "12.3"}, {"any", "12.0"}};
  EXPECT_TRUE(rules::consumer_minimum(consumer, gpu("sm_120"), v("12.8")));
  EXPECT_TRUE(rules::consumer_minimum(consumer, gpu("sm_121a"), v("12.8")));
  EXPECT_FALSE(rules::consumer_minimum(consumer, gpu("sm_120"), v("12.9")));
  EXPECT_FALSE(rules::consumer_minimum(consumer, gpu("sm_90"), v("12.8")));
  EXPECT_TRUE(rules::consumer_minimum(consumer, gpu("sm_80"), v("11.8")));
}

TEST(Rules, wheels_hold_a_compiler_from_13_on) {
  EXPECT_TRUE(rules::compiler_wheels(limits(), v("12.9")));
  EXPECT_FALSE(rules::compiler_wheels(limits(), v("13.0")));
}

TEST(Preference, pytorchs_minor_then_newer_ones_upwards_then_older_ones_downwards) {
  const auto order = [](std::vector<std::string> minors, std::optional<Version> torch) {
    std::sort(minors.begin(), minors.end(), [&](const auto& a, const auto& b) {
      return compare_preference(v(a), v(b), torch) < 0;
    });
    return minors;
  };
  const std::vector<std::string> minors{"13.0", "13.1", "13.2", "13.9", "13.10"};
  EXPECT_EQ(order(minors, v("13.2")),
            (std::vector<std::string>{"13.2", "13.9", "13.10", "13.1", "13.0"}));
  EXPECT_EQ(order(minors, std::nullopt),
            (std::vector<std::string>{"13.10", "13.9", "13.2", "13.1", "13.0"}));
}

} // namespace
} // namespace cukit::resolve
