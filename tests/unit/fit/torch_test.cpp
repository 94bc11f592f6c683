// Expected values: PyTorch's RELEASE.md (CUDA architectures of each build) and NVIDIA's rules of
// binary compatibility.
#include "fit/torch.hpp"

#include <gmock/gmock.h>

namespace cukit::fit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const knowledge::Knowledge& recipes() {
  static const auto knowledge = knowledge::Knowledge::embedded();
  return knowledge;
}
const TorchReleases& torches() {
  return **recipes().torch_releases();
}
const std::vector<knowledge::Architecture>& architectures() {
  return **recipes().architectures();
}

GpuTarget gpu(const char* text) {
  return *GpuTarget::parse(text);
}

Answer x86(const char* torch, const char* target) {
  return torch_has_code(torches(), TorchName::parse(torch), gpu(target),
                        Platform::Kind::linux_x86_64, architectures());
}
Answer arm(const char* torch, const char* target) {
  return torch_has_code(torches(), TorchName::parse(torch), gpu(target), Platform::Kind::linux_sbsa,
                        architectures());
}

TEST(Torch, a_name_is_taken_apart) {
  const auto full = TorchName::parse("2.8.0+cu128");
  EXPECT_EQ(full.version->text(), "2.8.0");
  EXPECT_EQ(full.tag, "cu128");
  EXPECT_EQ(full.text(), "2.8.0+cu128");
  EXPECT_EQ(TorchName::parse("cu130").text(), "cu130");
  EXPECT_EQ(TorchName::parse("2.9.1").tag, "");
  EXPECT_EQ(cuda_of_tag("cu128")->text(), "12.8");
  EXPECT_FALSE(cuda_of_tag("cpu"));
  EXPECT_FALSE(cuda_of_tag("rocm6.4"));
}

TEST(Torch, a_gpu_newer_than_the_build_has_no_code) {
  EXPECT_EQ(x86("2.5.1+cu121", "sm_120"), Answer::no);
  EXPECT_EQ(x86("2.6.0+cu126", "sm_100"), Answer::no);
  EXPECT_EQ(x86("2.7.0+cu128", "sm_120"), Answer::yes);
}

TEST(Torch, a_gpu_older_than_the_build_has_no_code) {
  EXPECT_EQ(x86("2.8.0+cu128", "sm_61"), Answer::no);
  EXPECT_EQ(x86("2.8.0+cu126", "sm_61"), Answer::yes) << "a cubin of 6.0 runs on 6.1";
  EXPECT_EQ(x86("2.11.0+cu128", "sm_70"), Answer::no);
  EXPECT_EQ(x86("2.10.0+cu128", "sm_70"), Answer::yes);
  EXPECT_EQ(x86("2.11.0+cu130", "sm_70"), Answer::no);
}

TEST(Torch, a_cubin_serves_later_minors_of_its_major) {
  EXPECT_EQ(x86("2.11.0+cu130", "sm_89"), Answer::yes);
  EXPECT_EQ(x86("2.11.0+cu130", "sm_121"), Answer::yes);
  EXPECT_EQ(x86("2.11.0+cu130", "sm_103"), Answer::yes);
  EXPECT_EQ(x86("2.11.0+cu130", "sm_87"), Answer::no) << "Tegra runs its own cubins alone";
}

TEST(Torch, thor_is_served_on_arm_alone) {
  EXPECT_EQ(x86("2.11.0+cu130", "sm_110"), Answer::no);
  EXPECT_EQ(arm("2.11.0+cu130", "sm_110"), Answer::yes);
}

TEST(Torch, what_is_not_known_is_said_so) {
  EXPECT_EQ(x86("2.99.0+cu130", "sm_90"), Answer::unknown);
  EXPECT_EQ(x86("2.15.0+cu134", "sm_90"), Answer::unknown);
  EXPECT_EQ(arm("2.6.0+cu126", "sm_90"), Answer::unknown);
  EXPECT_EQ(torch_build_exists(torches(), TorchName::parse("2.99.0+cu130")), Answer::unknown);
  EXPECT_EQ(torch_build_exists(torches(), TorchName::parse("cu130")), Answer::unknown);
}

TEST(Torch, a_tag_alone_fails_when_none_of_its_builds_has_code) {
  EXPECT_EQ(x86("cu121", "sm_120"), Answer::no);
  EXPECT_EQ(x86("cu128", "sm_120"), Answer::yes);
  EXPECT_EQ(x86("cu128", "sm_70"), Answer::yes) << "2.8 to 2.10 have it";
}

TEST(Torch, builds_that_were_never_published) {
  EXPECT_EQ(torch_build_exists(torches(), TorchName::parse("2.12.0+cu129")), Answer::no);
  EXPECT_EQ(torch_build_exists(torches(), TorchName::parse("2.12.1+cu129")), Answer::yes);
  EXPECT_EQ(torch_build_exists(torches(), TorchName::parse("2.5.1+cu124")), Answer::yes);
  EXPECT_EQ(torch_build_exists(torches(), TorchName::parse("2.4.1+cu126")), Answer::no);
}

TEST(Torch, the_nearest_build_keeps_the_version_before_the_cuda) {
  const auto nearest = [](const char* torch, const char* target) {
    std::vector<std::string> texts;
    for (const auto& name : nearest_torches(torches(), TorchName::parse(torch), {gpu(target)},
                                            {Platform::Kind::linux_x86_64}, architectures())) {
      texts.push_back(name.text());
    }
    texts.resize(std::min<std::size_t>(texts.size(), 3));
    return texts;
  };
  EXPECT_EQ(nearest("2.8.0+cu128", "sm_61").front(), "2.8.0+cu126");
  EXPECT_THAT(nearest("2.12.0+cu129", "sm_90"),
              testing::UnorderedElementsAre("2.12.1+cu129", "2.12.0+cu126", "2.12.1+cu126"));
}

TEST(Torch, says_what_a_build_was_made_for) {
  EXPECT_EQ(
      torch_code_text(torches(), TorchName::parse("2.5.1+cu121"), Platform::Kind::linux_x86_64),
      "sm_50, sm_60, sm_70, sm_75, sm_80, sm_86, sm_90, and no PTX");
  EXPECT_THAT(
      torch_code_text(torches(), TorchName::parse("2.11.0+cu130"), Platform::Kind::linux_x86_64),
      HasSubstr("and PTX of compute_120"));
}

/// Every build and every GPU that nvcc knows: a build serves a GPU by a cubin of the same major
/// and no higher minor, or by PTX; counted by hand of the sets, not by the code under test.
TEST(Torch, every_build_serves_the_gpus_it_lists) {
  for (const auto& release : torches()) {
    for (const auto& [tag, build] : release.builds) {
      if (!build.code) {
        continue;
      }
      for (const auto& target : build.code->cubins) {
        EXPECT_EQ(x86((release.version.text() + "+" + tag).c_str(), target.sm().c_str()),
                  Answer::yes);
      }
    }
  }
}

} // namespace
} // namespace cukit::fit
