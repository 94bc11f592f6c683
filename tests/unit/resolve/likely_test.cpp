#include "fixture.hpp"
#include "resolve/likely.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> likely(const std::string& body, const lock::Lock* earlier = nullptr) {
  auto result = likely_minors(manifest_of(body), recipes(), {}, earlier);
  EXPECT_TRUE(result.has_value());
  return result.value_or(std::vector<std::string>{"error"});
}

catalog::Catalog only(const std::vector<std::string>& minors) {
  auto catalog = real_catalog();
  std::erase_if(catalog.releases, [&](const catalog::MetaRelease& release) {
    return std::find(minors.begin(), minors.end(), release.version.major_minor()) == minors.end();
  });
  return catalog;
}

const char* const k_bodies[] = {
    "gpus: [sm_90]\nplatforms: [linux-x86_64]\n",
    "gpus: [sm_90, sm_120]\npytorch: cu130\nconsumers: [flashinfer, triton]\n"
    "platforms: [linux-x86_64, linux-sbsa]\n",
    "gpus: [sm_107]\npytorch: cu130\nplatforms: [linux-x86_64]\n",
    "gpus: [sm_90]\ntoolkit: {nvcc: \">=13.1,<13.3\"}\nplatforms: [linux-x86_64]\n",
    "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0.2\"}\ncomponents: [jit, math]\nplatforms: "
    "[linux-sbsa]\n",
    "gpus: [sm_121f]\ndriver: \">=590\"\nplatforms: [linux-sbsa]\n"};

TEST(Likely, the_answer_among_the_few_is_the_answer_among_all) {
  for (const auto* body : k_bodies) {
    const auto minors = likely(body);
    EXPECT_EQ(minors.size(), 1U) << body;
    const auto few = answer_to(manifest_of(body), only(minors));
    ASSERT_TRUE(std::holds_alternative<Resolution>(few)) << body;
    EXPECT_EQ(lock::write(std::get<Resolution>(few).lock), lock::write(resolution_of(body).lock))
        << body;
  }
}

TEST(Likely, the_earlier_locks_minor_is_read_too) {
  const auto earlier =
      resolution_of("gpus: [sm_90]\ntoolkit: {nvcc: \"13.2\"}\nplatforms: [linux-x86_64]\n").lock;
  const auto* body = "gpus: [sm_90]\npytorch: cu130\nplatforms: [linux-x86_64]\n";
  EXPECT_THAT(likely(body, &earlier), ElementsAre("13.0", "13.2"));
}

TEST(Likely, a_wish_that_borrows_from_another_release_reads_all) {
  EXPECT_THAT(likely("gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\", ptxas: \"13.2\"}\n"), IsEmpty());
  EXPECT_THAT(likely("gpus: [sm_90]\ncomponents: [core, binutils]\n"), IsEmpty());
}

TEST(Likely, every_component_of_the_wheels_leaves_cuda_13_to_the_wheels) {
  const auto components = recipes().components();
  ASSERT_TRUE(components);
  for (const auto& component : **components) {
    if (component.project.empty()) {
      continue;
    }
    const auto asked = wanted(
        manifest_of(fmt::format("gpus: [sm_90]\ntoolkit: {{nvcc: \"13.2.78\"}}\ncomponents: [core, "
                                "{}]\nplatforms: [linux-x86_64]\n",
                                component.name)),
        recipes());
    ASSERT_TRUE(asked) << component.name;
    EXPECT_TRUE(asked->wheels && !asked->redist) << component.name;
  }
}

TEST(Likely, without_a_known_answer_all_are_read) {
  EXPECT_THAT(likely("gpus: [sm_70, sm_120]\ntoolkit: {nvcc: \">=13\"}\n"), IsEmpty());
}

} // namespace
} // namespace cukit::resolve
