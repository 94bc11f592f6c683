// `gpus: native` and `driver: native` where a command line stands for the machine.
#include "fixture.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

constexpr const char* k_native = "gpus: native\ndriver: native\nplatforms: [linux-x86_64]\n";

MachineFacts assumed(const std::string& gpu, const std::string& driver) {
  MachineFacts facts;
  facts.gpus = {{.index = 0, .name = gpu, .uuid = {}, .target = *GpuTarget::parse(gpu)}};
  facts.driver = machine::Driver{.version = *Version::parse(driver), .cuda = {}};
  facts.assumed_gpus = true;
  facts.assumed_driver = true;
  return facts;
}

TEST(Assumed, is_written_into_the_lock_and_read_back) {
  const auto lock = resolution_of(k_native, assumed("sm_120", "590.44.01")).lock;
  EXPECT_TRUE(lock.assumed_gpus);
  EXPECT_TRUE(lock.assumed_driver);
  EXPECT_FALSE(lock.observed_gpus);
  EXPECT_EQ(lock.driver, "590.44.1"); // versions drop leading zeros
  const auto text = lock::write(lock);
  EXPECT_THAT(text, HasSubstr("\n  assumed: [driver, gpus]\n"));
  EXPECT_EQ(*lock::read(text, "x.lock.yaml"), lock);
}

TEST(Assumed, what_is_seen_is_no_assumption) {
  auto seen = assumed("sm_120", "590.44.01");
  seen.assumed_gpus = false;
  seen.assumed_driver = false;
  const auto lock = resolution_of(k_native, seen).lock;
  EXPECT_TRUE(lock.observed_gpus);
  EXPECT_FALSE(lock.assumed_gpus || lock.assumed_driver);
  EXPECT_EQ(lock.driver, "580"); // what one machine showed is no requirement
}

TEST(Assumed, a_lock_holds_for_the_same_assumption_and_not_for_another_gpu) {
  const auto manifest = manifest_of(k_native);
  const auto lock = resolution_of(k_native, assumed("sm_120", "590.44.01")).lock;
  EXPECT_EQ(*stale(lock, manifest, recipes(), assumed("sm_120", "590.44.01")), "");
  EXPECT_THAT(*stale(lock, manifest, recipes(), assumed("sm_90", "590.44.01")),
              HasSubstr("the GPUs are sm_90 now"));
}

TEST(Assumed, a_driver_that_is_too_old_is_a_conflict_as_if_it_were_here) {
  const auto answer =
      answer_to(manifest_of(k_native), real_catalog(), assumed("sm_90", "535.54.03"));
  ASSERT_TRUE(std::holds_alternative<Conflict>(answer));
  EXPECT_THAT(text_of(std::get<Conflict>(answer)),
              HasSubstr("branch 580 or newer on this machine, which has 535.54.03"));
}

TEST(Assumed, a_lock_that_assumes_what_it_observed_is_refused) {
  auto text = lock::write(resolution_of(k_native, assumed("sm_120", "590.44.01")).lock);
  const auto at = text.find("  assumed:");
  text.insert(at, "  observed: [gpus]\n");
  const auto lock = lock::read(text, "x.lock.yaml");
  ASSERT_FALSE(lock.has_value());
}

} // namespace
} // namespace cukit::resolve
