#include "fixture.hpp"
#include "resolve/cutoff.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

TEST(Cutoff, a_date_means_the_end_of_that_day) {
  const auto cutoff = *Cutoff::parse("2026-05-01");
  EXPECT_TRUE(cutoff.allows("2026-05-01T23:59:59.999999Z"));
  EXPECT_FALSE(cutoff.allows("2026-05-02T00:00:00Z"));
}

TEST(Cutoff, a_moment_is_taken_to_the_second) {
  const auto cutoff = *Cutoff::parse("2026-05-01T12:00:00Z");
  EXPECT_TRUE(cutoff.allows("2026-05-01T12:00:00.5Z"));
  EXPECT_TRUE(cutoff.allows("2026-05-01T12:00:00+00:00"));
  EXPECT_FALSE(cutoff.allows("2026-05-01T12:00:01Z"));
}

TEST(Cutoff, what_is_no_time_is_never_allowed) {
  const auto cutoff = *Cutoff::parse("2099-01-01");
  for (const auto* text :
       {"", "yesterday", "2026-05-01", "2026-05-01T12:00:00", "2026-13-01T00:00:00Z",
        "2026-05-01T12:00:00+02:00", "2026-05-01T12:00:00.Z"}) {
    EXPECT_FALSE(cutoff.allows(text)) << text;
  }
}

TEST(Cutoff, refuses_what_is_no_date) {
  for (const auto* text :
       {"", "2026", "2026-5-1", "2026-02-30", "2026-00-10", "01.05.2026", "2026-05-01T12:00:00"}) {
    const auto result = Cutoff::parse(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::usage);
  }
}

TEST(Cutoff, leaves_out_newer_files_and_those_of_unknown_age) {
  auto catalog = real_catalog();
  std::size_t files = 0;
  for (auto& [project, list] : catalog.projects) {
    for (auto& file : list) {
      file.upload_time =
          file.version.minor() >= 2 ? "2026-06-01T00:00:00Z" : "2025-10-01T00:00:00Z";
      ++files;
    }
  }
  for (auto& release : catalog.releases) {
    release.file.upload_time =
        release.version.minor() >= 2 ? "2026-06-01T00:00:00Z" : "2025-10-01T00:00:00Z";
  }
  catalog.projects["cuda-toolkit"].front().upload_time.clear();
  const auto excluded = exclude_newer(catalog, *Cutoff::parse("2026-01-01"));
  EXPECT_EQ(excluded.unknown, 1);
  std::size_t left = 0;
  for (const auto& [project, list] : catalog.projects) {
    left += list.size();
  }
  EXPECT_EQ(left + static_cast<std::size_t>(excluded.newer + excluded.unknown), files);
  const auto answer = answer_to(manifest_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\n"), catalog);
  ASSERT_TRUE(std::holds_alternative<Resolution>(answer));
  EXPECT_EQ(std::get<Resolution>(answer).lock.release.minor(), 1);
}

TEST(Cutoff, manifests_of_redistributables_have_a_day) {
  catalog::Catalog catalog;
  for (const auto* date : {"2025-10-09", "2026-04-13", ""}) {
    catalog::RedistManifest manifest;
    manifest.product = "cuda";
    manifest.date = date;
    catalog.manifests.push_back(std::move(manifest));
  }
  const auto excluded = exclude_newer(catalog, *Cutoff::parse("2025-10-09"));
  EXPECT_EQ(excluded.newer, 1);
  EXPECT_EQ(excluded.unknown, 1);
  ASSERT_EQ(catalog.manifests.size(), 1U);
  EXPECT_EQ(catalog.manifests[0].date, "2025-10-09");
}

} // namespace
} // namespace cukit::resolve
