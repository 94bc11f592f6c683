#include "pipeline/kept.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::pipeline {
namespace {

using testing::HasSubstr;

lock::Lock example() {
  return *lock::load(fs::path(CUKIT_SOURCE_DIR) / "manifests/newer-ptxas.lock.yaml");
}

std::optional<lock::Lock> kept(const std::vector<std::string>& components) {
  auto result = kept_choices(example(), components, knowledge::Knowledge::embedded());
  EXPECT_TRUE(result.has_value());
  return result.value_or(std::nullopt);
}

int count(const lock::Lock& lock, const std::string& component) {
  int result = 0;
  for (const auto& artifact : lock.platforms.front().artifacts) {
    result += artifact.component == component ? 1 : 0;
  }
  return result;
}

TEST(Kept, nothing_when_everything_is_upgraded) {
  EXPECT_FALSE(kept({}).has_value());
}

TEST(Kept, all_but_the_component_that_is_upgraded) {
  const auto lock = kept({"cccl"});
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(lock->release, example().release);
  EXPECT_EQ(count(*lock, "cccl"), 0);
  EXPECT_EQ(count(*lock, "nvcc"), 2); // itself and the ptxas that stands in
}

TEST(Kept, ptxas_is_the_part_and_not_nvcc) {
  const auto lock = kept({"ptxas"});
  EXPECT_EQ(lock->release, example().release);
  EXPECT_EQ(count(*lock, "nvcc"), 1);
}

/// Where nothing asked for a newer one the lock holds it all the same, in nvcc's own package.
TEST(Kept, ptxas_that_comes_with_nvcc_is_no_mistake) {
  const auto lock = *lock::load(fs::path(CUKIT_SOURCE_DIR) / "manifests/quickstart.lock.yaml");
  const auto knowledge = knowledge::Knowledge::embedded();
  const auto kept = kept_choices(lock, {"ptxas"}, knowledge);
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_EQ(lock::write(**kept), lock::write(lock));
  EXPECT_EQ(comes_with(lock, "ptxas", **knowledge.components()), "nvcc");
  EXPECT_EQ(comes_with(example(), "ptxas", **knowledge.components()), "");
  EXPECT_EQ(comes_with(lock, "cccl", **knowledge.components()), "");
}

TEST(Kept, the_compiler_lets_the_release_go) {
  EXPECT_EQ(kept({"nvcc"})->release, Version());
  EXPECT_EQ(kept({"cuda"})->release, Version());
}

TEST(Kept, an_unknown_component_is_an_error_with_the_nearest_name) {
  const auto result = kept_choices(example(), {"ccl"}, knowledge::Knowledge::embedded());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::usage);
  EXPECT_THAT(result.error().hint, HasSubstr("cccl"));
}

} // namespace
} // namespace cukit::pipeline
