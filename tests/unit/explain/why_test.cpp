#include "../resolve/fixture.hpp"
#include "explain/why.hpp"

#include <gmock/gmock.h>

namespace cukit::explain {
namespace {

using resolve::manifest_of;
using resolve::recipes;
using resolve::resolution_of;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* k_flashinfer = "gpus: [sm_90, sm_120f]\npytorch: cu130\n"
                                     "consumers: [flashinfer]\nplatforms: [linux-x86_64]\n";

std::string text_of(const Explanation& explanation) {
  std::string text = explanation.subject + "\n";
  for (const auto& line : explanation.lines) {
    text += fmt::format("{} | {} | {}\n", line.label, line.text, line.source);
  }
  return text;
}

struct Asked {
  manifest::Manifest manifest;
  lock::Lock lock;
  explicit Asked(const std::string& body)
      : manifest(manifest_of(body)), lock(resolution_of(body).lock) {}
  [[nodiscard]] Question question(bool with_manifest = true) const {
    return {.lock = lock, .knowledge = recipes(), .manifest = with_manifest ? &manifest : nullptr};
  }
  [[nodiscard]] std::string component(const std::string& word, bool with_manifest = true) const {
    const auto answers = why_component(question(with_manifest), word);
    EXPECT_TRUE(answers.has_value()) << word;
    std::string text;
    for (const auto& answer : answers.value_or(std::vector<Explanation>{})) {
      text += text_of(answer);
    }
    return text;
  }
  [[nodiscard]] Explanation gpu(const std::string& text) const {
    return *why_gpu(question(), *GpuTarget::parse(text));
  }
};

TEST(Why, a_component_of_a_consumer_leads_to_the_line_of_the_manifest) {
  const Asked asked(k_flashinfer);
  EXPECT_THAT(asked.component("curand"),
              AllOf(HasSubstr("consumer flashinfer needs it"), HasSubstr("consumers: flashinfer"),
                    HasSubstr("test.yaml:5:"), HasSubstr("its headers only")));
}

TEST(Why, without_a_manifest_the_chain_ends_with_what_the_lock_says) {
  const Asked asked(k_flashinfer);
  EXPECT_THAT(asked.component("curand", false),
              AllOf(HasSubstr("consumer flashinfer needs it"), Not(HasSubstr("test.yaml"))));
}

TEST(Why, the_compiler_core_has_one_version) {
  const Asked asked(k_flashinfer);
  EXPECT_THAT(asked.component("nvvm"),
              AllOf(HasSubstr("nvvm 13.0.88"), HasSubstr("carry one full version"),
                    HasSubstr("needed by | nvcc"), HasSubstr("its digest is part of this cukit")));
}

TEST(Why, a_file_that_a_component_provides_stands_for_it) {
  const Asked asked(k_flashinfer);
  EXPECT_THAT(asked.component("cudafe++"), HasSubstr("nvcc 13.0.88"));
  EXPECT_THAT(asked.component("curand.h"), HasSubstr("curand "));
}

TEST(Why, ptxas_is_nvcc_unless_a_newer_one_stands_in) {
  const Asked own(k_flashinfer);
  EXPECT_THAT(own.component("ptxas"), HasSubstr("nvcc 13.0.88"));
  const Asked newer("gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\", ptxas: \"13.2\"}\n"
                    "platforms: [linux-x86_64]\n");
  const auto text = newer.component("ptxas");
  EXPECT_THAT(text, AllOf(HasSubstr("ptxas of nvcc 13.2."), HasSubstr("nvlink comes with it"),
                          HasSubstr("toolkit.ptxas: 13.2"), Not(HasSubstr("nvcc 13.0.88"))));
  EXPECT_THAT(newer.component("nvcc"), HasSubstr("left out | bin/ptxas and bin/nvlink"));
}

TEST(Why, a_component_that_is_absent_tells_how_to_have_it) {
  const Asked asked(k_flashinfer);
  const auto answers = why_component(asked.question(), "nvrtc");
  ASSERT_TRUE(answers.has_value());
  ASSERT_THAT(*answers, SizeIs(1));
  EXPECT_FALSE(answers->front().holds);
  EXPECT_THAT(text_of(answers->front()), HasSubstr("components: [nvrtc]"));
}

TEST(Why, an_unknown_word_is_an_error_with_the_nearest_name) {
  const Asked asked(k_flashinfer);
  const auto answers = why_component(asked.question(), "nvrct");
  ASSERT_FALSE(answers.has_value());
  EXPECT_EQ(answers.error().code, ErrorCode::usage);
  EXPECT_THAT(answers.error().hint, HasSubstr("nvrtc"));
}

TEST(Why, the_release_tells_what_it_rests_on) {
  const Asked asked(k_flashinfer);
  EXPECT_THAT(asked.component("cuda"),
              AllOf(HasSubstr("CUDA 13.0.3"), HasSubstr("pytorch: cu130"),
                    HasSubstr("PyTorch's own minor"), HasSubstr("cuda_toolkit-13.0.3.0")));
}

TEST(Why, a_gpu_is_served_by_a_target_that_runs_on_it) {
  const Asked asked(k_flashinfer);
  const auto rtx = asked.gpu("sm_120");
  EXPECT_TRUE(rtx.holds);
  EXPECT_THAT(text_of(rtx), AllOf(HasSubstr("served by | sm_120f"), HasSubstr("test.yaml:3:"),
                                  HasSubstr("flashinfer | needs nvcc 12.9 or newer")));
  // the family form runs on its other member (CUDA programming guide)
  EXPECT_THAT(text_of(asked.gpu("sm_121")), HasSubstr("served by | sm_120f"));
}

TEST(Why, a_gpu_that_no_target_serves_is_said_not_to_be) {
  const Asked asked(k_flashinfer);
  const auto ampere = asked.gpu("sm_80");
  EXPECT_FALSE(ampere.holds);
  EXPECT_THAT(text_of(ampere), HasSubstr("no target of the lock"));
}

} // namespace
} // namespace cukit::explain
