// Expected values: CMake's table of architectures per CUDA release and NVIDIA's driver tables.
#include "../resolve/fixture.hpp"
#include "explain/matrix.hpp"

#include <gmock/gmock.h>

namespace cukit::explain {
namespace {

using resolve::recipes;

ServiceMatrix matrix_of(const std::vector<std::string>& gpus, const std::string& driver = "",
                        int major = 0) {
  std::vector<GpuTarget> targets;
  for (const auto& gpu : gpus) {
    targets.push_back(*GpuTarget::parse(gpu));
  }
  std::optional<Version> version;
  if (!driver.empty()) {
    version = *Version::parse(driver);
  }
  auto result = service_matrix(recipes(), targets, version, major);
  EXPECT_TRUE(result.has_value());
  return result.value_or(ServiceMatrix{});
}

std::string releases_of(const ServiceMatrix& matrix, bool (*holds)(const ServiceMatrix::Cell&)) {
  std::string text;
  for (std::size_t i = 0; i < matrix.releases.size(); ++i) {
    if (holds(matrix.rows.at(0).cells.at(i))) {
      text += (text.empty() ? "" : " ") + matrix.releases[i].minor.major_minor();
    }
  }
  return text;
}

TEST(Matrix, volta_ends_with_cuda_12) {
  const auto matrix = matrix_of({"sm_70"});
  EXPECT_EQ(releases_of(matrix, [](const auto& cell) { return cell.compiles; }),
            "11.8 12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.8 12.9");
}

TEST(Matrix, the_forms_of_blackwell_begin_at_their_own_releases) {
  const auto matrix = matrix_of({"sm_120"}, "", 12);
  EXPECT_EQ(releases_of(matrix, [](const auto& cell) { return cell.has_a; }), "12.8 12.9");
  EXPECT_EQ(releases_of(matrix, [](const auto& cell) { return cell.has_f; }), "12.9");
}

TEST(Matrix, a_driver_starts_its_major_and_takes_the_ptx_of_its_own_minor) {
  const auto matrix = matrix_of({"sm_90"}, "580.95.05");
  for (const auto& release : matrix.releases) {
    EXPECT_TRUE(release.starts) << release.minor.text();
    EXPECT_EQ(release.takes_ptx, release.minor <= *Version::parse("13.0")) << release.minor.text();
  }
  for (const auto& release : matrix_of({"sm_90"}, "535").releases) {
    EXPECT_EQ(release.starts, release.minor.major() < 13) << release.minor.text();
    EXPECT_EQ(release.takes_ptx, release.minor <= *Version::parse("12.2")) << release.minor.text();
  }
}

TEST(Matrix, a_driver_older_than_everything_starts_nothing) {
  for (const auto& release : matrix_of({"sm_90"}, "390").releases) {
    EXPECT_FALSE(release.starts || release.takes_ptx);
  }
}

} // namespace
} // namespace cukit::explain
