// why and diff on locks of NVIDIA's archives, from the real manifests.
#include "../resolve/fixture.hpp"
#include "explain/diff.hpp"
#include "explain/why.hpp"

#include <gmock/gmock.h>

namespace cukit::explain {
namespace {

using resolve::answer_to;
using resolve::manifest_of;
using resolve::real_catalog;
using resolve::real_manifest;
using resolve::recipes;
using resolve::Resolution;

using testing::HasSubstr;

class OfArchives : public testing::Test {
protected:
  static lock::Lock lock_of(const std::string& release, const std::string& sources) {
    auto catalog = real_catalog();
    catalog.manifests.push_back(real_manifest("cuda", release));
    catalog.redist_was_asked = true;
    const auto answer = answer_to(
        manifest_of(fmt::format("gpus: [sm_90]\ntoolkit: {{nvcc: \"{}\"}}\nsources: [{}]\n"
                                "platforms: [linux-x86_64]\n",
                                release, sources)),
        catalog);
    EXPECT_TRUE(std::holds_alternative<Resolution>(answer));
    return std::get<Resolution>(answer).lock;
  }
};

TEST_F(OfArchives, crt_lies_in_nvccs_archive_before_13) {
  const auto lock = lock_of("12.8.1", "redist");
  const auto answers =
      why_component({.lock = lock, .knowledge = recipes(), .manifest = nullptr}, "crt");
  ASSERT_TRUE(answers.has_value());
  ASSERT_EQ(answers->size(), 1U);
  EXPECT_TRUE(answers->front().holds);
  EXPECT_EQ(answers->front().subject, "crt in nvcc 12.8.93");
  EXPECT_THAT(answers->front().lines.front().text, HasSubstr("lies in nvcc's"));
}

/// 12.8.1's manifest is pinned, that of 12.0.0 is not (known_manifest_sha256.tsv).
TEST_F(OfArchives, trust_in_an_archive_is_that_of_its_manifest) {
  const auto trust_of = [](const std::string& release) {
    const auto lock = lock_of(release, "redist");
    const auto answers =
        why_component({.lock = lock, .knowledge = recipes(), .manifest = nullptr}, "nvcc");
    for (const auto& line : answers.value().front().lines) {
      if (line.label == "trust") {
        return line.text;
      }
    }
    return std::string();
  };
  EXPECT_THAT(trust_of("12.8.1"), HasSubstr("digest of the manifest"));
  EXPECT_THAT(trust_of("12.0.0"), HasSubstr("first locked"));
}

TEST_F(OfArchives, the_same_release_from_another_source_says_so) {
  const auto diff =
      explain::diff(lock_of("13.0.2", "wheels"), lock_of("13.0.2", "redist"), recipes());
  ASSERT_TRUE(diff.has_value());
  bool is_nvcc_told = false;
  for (const auto& change : diff->components) {
    if (change.component == "nvcc") {
      is_nvcc_told = true;
      EXPECT_EQ(change.kind, ComponentChange::Kind::bytes);
      EXPECT_EQ(change.from, "13.0.88 from wheels");
      EXPECT_EQ(change.to, "13.0.88 from redist");
    }
  }
  EXPECT_TRUE(is_nvcc_told);
  EXPECT_TRUE(diff->effects.empty() || diff->effects.front().subject != "PTX ISA");
}

TEST_F(OfArchives, from_12_to_13_the_floor_of_the_driver_moves_and_volta_goes) {
  const auto diff =
      explain::diff(lock_of("12.9.1", "redist"), lock_of("13.0.2", "redist"), recipes());
  ASSERT_TRUE(diff.has_value());
  std::string text;
  for (const auto& effect : diff->effects) {
    text += fmt::format("{}: {} -> {}\n", effect.subject, effect.from, effect.to);
  }
  EXPECT_THAT(text, HasSubstr("least driver: 525 -> 580"));
  EXPECT_THAT(text, HasSubstr("PTX ISA: 8.8 -> 9.0"));
  EXPECT_THAT(text, HasSubstr("sm_70"));
}

} // namespace
} // namespace cukit::explain
