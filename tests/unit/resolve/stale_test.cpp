#include "fixture.hpp"

#include <fstream>
#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

constexpr auto k_body =
    "gpus: [sm_90, sm_120]\npytorch: cu130\nconsumers: [flashinfer]\nplatforms: [linux-x86_64]\n";

std::string stale_text(const lock::Lock& lock, const manifest::Manifest& manifest,
                       const MachineFacts& machine = {}) {
  auto text = stale(lock, manifest, recipes(), machine);
  return text ? *text : "error: " + text.error().message;
}

TEST(Stale, a_fresh_lock_holds) {
  for (const auto* body :
       {k_body,
        "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0.2\", ptxas: \"13.2.1\", cccl: "
        "\">=3.3\"}\nplatforms: [linux-x86_64]\n",
        "gpus: [sm_90]\ncomponents: [core, binutils, math]\nplatforms: [linux-sbsa]\n",
        "gpus: [sm_90]\ncomponents: [nvrtc]\nplatforms: [linux-x86_64]\n"}) {
    EXPECT_EQ(stale_text(resolution_of(body).lock, manifest_of(body)), "") << body;
  }
}

TEST(Stale, another_manifest) {
  const auto lock = resolution_of(k_body).lock;
  EXPECT_THAT(stale_text(lock, manifest_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\n")),
              HasSubstr("the manifest has changed"));
}

TEST(Stale, a_platform_that_the_lock_does_not_hold) {
  auto manifest = manifest_of("gpus: [sm_90]\n");
  auto lock = resolution_of("gpus: [sm_90]\n").lock;
  lock.platforms.front().platform = Platform::host() == Platform(Platform::Kind::linux_sbsa)
                                        ? Platform::Kind::linux_x86_64
                                        : Platform::Kind::linux_sbsa;
  EXPECT_THAT(stale_text(lock, manifest), HasSubstr("the lock holds nothing for"));
}

TEST(Stale, names_the_rule_that_a_changed_lock_breaks) {
  const auto lock = resolution_of(k_body).lock;
  const auto with = [&](const std::string& component, const std::string& version) {
    auto changed = lock;
    for (auto& artifact : changed.platforms.front().artifacts) {
      if (artifact.component == component) {
        artifact.version = *Version::parse(version);
      }
    }
    return stale_text(changed, manifest_of(k_body));
  };
  EXPECT_THAT(with("nvvm", "13.2.78"),
              HasSubstr("rule compiler-core: nvvm 13.2.78 does not belong to nvcc 13.0.88"));
  EXPECT_THAT(with("cudart", "13.2.75"), HasSubstr("rule "));
  EXPECT_THAT(with("cccl", "12.9.27"), HasSubstr("rule cccl: CCCL 2.8 is older"));
}

TEST(Stale, a_component_that_is_missing) {
  auto lock = resolution_of(k_body).lock;
  std::erase_if(lock.platforms.front().artifacts,
                [](const auto& artifact) { return artifact.component == "curand"; });
  EXPECT_THAT(stale_text(lock, manifest_of(k_body)), HasSubstr("the lock has no curand"));
}

TEST(Stale, a_rule_that_newer_knowledge_brings) {
  // the same lock under recipes that say that Hopper begins with CUDA 13.2
  const fs::path source = fs::path(CUKIT_SOURCE_DIR) / "recipes";
  auto folder = TempDirectory::create(fs::temp_directory_path(), "recipes");
  ASSERT_TRUE(folder.has_value());
  fs::copy(source, folder->path() / "recipes", fs::copy_options::recursive);
  const auto gpus = folder->path() / "recipes/knowledge/gpus.yaml";
  auto text = *read_file(gpus, 1U << 20U);
  const std::string old = "name: Hopper, first: \"11.8\"";
  ASSERT_NE(text.find(old), std::string::npos);
  text.replace(text.find(old), old.size(), "name: Hopper, first: \"13.2\"");
  ASSERT_TRUE(write_file_atomic(gpus, text).has_value());
  const auto newer = knowledge::Knowledge::from(folder->path() / "recipes");
  const auto lock = resolution_of(k_body).lock;
  const auto said = stale(lock, manifest_of(k_body), newer, {});
  ASSERT_TRUE(said.has_value()) << said.error().message;
  EXPECT_THAT(*said, HasSubstr("rule gpu-range: sm_90 (Hopper) begins with CUDA 13.2"));
}

TEST(Stale, other_gpus_where_the_manifest_says_native) {
  const auto machine = [](const char* target) {
    MachineFacts facts;
    facts.gpus = {{.index = 0, .name = "x", .uuid = "y", .target = *GpuTarget::parse(target)}};
    return facts;
  };
  const auto* body = "gpus: native\nplatforms: [linux-x86_64]\n";
  const auto lock = resolution_of(body, machine("sm_90")).lock;
  EXPECT_EQ(stale_text(lock, manifest_of(body), machine("sm_90")), "");
  EXPECT_EQ(stale_text(lock, manifest_of(body), {}), ""); // a builder without a GPU cannot say
  EXPECT_THAT(stale_text(lock, manifest_of(body), machine("sm_120")),
              HasSubstr("the GPUs are sm_120 now"));
}

/// Recipes of a folder that holds nothing but pins.
class CheckPins : public testing::Test {
protected:
  void SetUp() override {
    folder_.emplace(*TempDirectory::create(fs::temp_directory_path(), "pins"));
    fs::copy(fs::path(CUKIT_SOURCE_DIR) / "recipes", folder_->path() / "recipes",
             fs::copy_options::recursive);
  }
  knowledge::Knowledge with_pin(const std::string& what, const Sha256& digest) {
    const auto path = folder_->path() / "recipes/knowledge/pins.sha256";
    EXPECT_TRUE(write_file_atomic(path, fmt::format("{}  {}\n", digest.hex(), what)).has_value());
    return knowledge::Knowledge::from(folder_->path() / "recipes");
  }
  std::optional<TempDirectory> folder_;
};

TEST_F(CheckPins, accepts_a_known_file_and_an_unknown_one) {
  const auto lock = resolution_of(k_body).lock;
  const auto& artifact = lock.platforms.front().artifacts.front();
  EXPECT_TRUE(check_pins(lock, with_pin(artifact.file, artifact.sha256)).has_value());
  EXPECT_TRUE(check_pins(lock, with_pin("other.whl", artifact.sha256)).has_value());
}

TEST_F(CheckPins, names_both_digests_of_a_file_that_differs) {
  auto lock = resolution_of(k_body).lock;
  auto& artifact = lock.platforms.front().artifacts.front();
  artifact.record = sha256_of("record");
  for (const auto& what : {artifact.file, "RECORD of " + artifact.file, lock.pins.begin()->first}) {
    const auto checked = check_pins(lock, with_pin(what, sha256_of("known")));
    ASSERT_FALSE(checked.has_value()) << what;
    EXPECT_EQ(checked.error().code, ErrorCode::integrity);
    EXPECT_THAT(checked.error().message, HasSubstr(sha256_of("known").text()));
    EXPECT_THAT(checked.error().message, HasSubstr(what));
  }
}

TEST_F(CheckPins, a_lock_from_a_replaced_file_is_refused_while_it_is_made) {
  const auto file = resolution_of(k_body).lock.platforms.front().artifacts.front().file;
  const auto answer =
      resolve(manifest_of(k_body), with_pin(file, sha256_of("known")), real_catalog(), {}, nullptr);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::integrity);
}

TEST_F(CheckPins, a_known_record_needs_no_reading_and_a_known_file_no_trust) {
  const auto plain = resolution_of(k_body);
  const auto file = artifact_of(plain, "curand").file;
  const auto answer =
      resolve(manifest_of(k_body), with_pin("RECORD of " + file, sha256_of("record")),
              real_catalog(), {}, nullptr);
  ASSERT_TRUE(answer.has_value());
  const auto& resolution = std::get<Resolution>(*answer);
  EXPECT_EQ(artifact_of(resolution, "curand").record, sha256_of("record"));
  EXPECT_TRUE(artifact_of(resolution, "curand").trust_first_lock);
  const auto digest = artifact_of(plain, "curand").sha256;
  const auto again =
      resolve(manifest_of(k_body), with_pin(file, digest), real_catalog(), {}, nullptr);
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(artifact_of(std::get<Resolution>(*again), "curand").trust_first_lock);
}

} // namespace
} // namespace cukit::resolve
