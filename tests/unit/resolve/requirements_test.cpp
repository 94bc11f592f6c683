#include "fixture.hpp"
#include "resolve/requirements.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

lock::Lock lock_for(const std::string& gpus) {
  return resolution_of("gpus: " + gpus + "\nplatforms: [linux-x86_64]\n").lock;
}

machine::Gpu gpu(int index, const std::string& name, const std::string& target) {
  return {.index = index, .name = name, .uuid = {}, .target = *GpuTarget::parse(target)};
}

std::vector<std::string> unmet_by(const lock::Lock& lock, const Node& node) {
  return unmet(lock, lock.platforms.front(), node);
}

TEST(Requirements, a_node_that_meets_the_lock) {
  EXPECT_THAT(unmet_by(lock_for("[sm_90, sm_120f]"),
                       {.glibc = *Version::parse("2.36"),
                        .driver = *Version::parse("580.65.06"),
                        .gpus = {gpu(0, "NVIDIA H200", "sm_90"), gpu(1, "GB10", "sm_121")}}),
              IsEmpty());
}

TEST(Requirements, a_build_machine_without_gpu_and_driver_meets_it) {
  EXPECT_THAT(
      unmet_by(lock_for("[sm_90]"), {.glibc = *Version::parse("2.36"), .driver = {}, .gpus = {}}),
      IsEmpty());
}

TEST(Requirements, every_difference_is_named_with_both_values) {
  EXPECT_THAT(unmet_by(lock_for("[sm_90]"), {.glibc = *Version::parse("2.12"),
                                             .driver = *Version::parse("535.54.03"),
                                             .gpus = {gpu(3, "NVIDIA L4", "sm_89")}}),
              ElementsAre(HasSubstr("or newer, this machine has 2.12"),
                          HasSubstr("driver 580 or newer, this machine has 535.54.03"),
                          HasSubstr("GPU 3 (NVIDIA L4, sm_89) is served by none of the lock's "
                                    "targets (sm_90)")));
}

TEST(Requirements, plain_code_runs_on_a_later_minor_only) {
  const auto lock = lock_for("[sm_86]");
  EXPECT_THAT(unmet_by(lock, {.glibc = {}, .driver = {}, .gpus = {gpu(0, "L4", "sm_89")}}),
              IsEmpty());
  EXPECT_THAT(unmet_by(lock, {.glibc = {}, .driver = {}, .gpus = {gpu(0, "A100", "sm_80")}}),
              ElementsAre(HasSubstr("A100, sm_80")));
}

TEST(Requirements, an_assumption_is_called_one) {
  auto lock = lock_for("[sm_90]");
  lock.driver = "595";
  lock.assumed_driver = true;
  EXPECT_THAT(unmet_by(lock, {.glibc = {}, .driver = *Version::parse("580.65.06"), .gpus = {}}),
              ElementsAre(HasSubstr("595 or newer (it was assumed)")));
}

} // namespace
} // namespace cukit::resolve
