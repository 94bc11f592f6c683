// Expected numbers are NVIDIA's: the PTX ISA's release history, the release notes' driver table and
// the component tables of CUDA 13.0.3 and 13.2.x.
#include "../resolve/fixture.hpp"
#include "explain/diff.hpp"

#include <gmock/gmock.h>

namespace cukit::explain {
namespace {

using resolve::recipes;
using resolve::resolution_of;

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Kind = ComponentChange::Kind;

constexpr const char* k_base = "gpus: [sm_90]\nplatforms: [linux-x86_64]\n";

Diff diff_of(const lock::Lock& from, const lock::Lock& to) {
  auto result = diff(from, to, recipes());
  EXPECT_TRUE(result.has_value());
  return result.value_or(Diff{});
}

lock::Lock lock_of(const std::string& body) {
  return resolution_of(std::string(k_base) + body).lock;
}

const ComponentChange* change_of(const Diff& diff, const std::string& component) {
  for (const auto& change : diff.components) {
    if (change.component == component) {
      return &change;
    }
  }
  return nullptr;
}

const Effect* effect_on(const Diff& diff, const std::string& subject) {
  for (const auto& effect : diff.effects) {
    if (effect.subject == subject) {
      return &effect;
    }
  }
  return nullptr;
}

TEST(Diff, a_lock_does_not_differ_from_itself) {
  const auto lock = lock_of("");
  EXPECT_TRUE(diff_of(lock, lock).empty());
  EXPECT_THAT(diff_of(lock, lock).downloads, IsEmpty());
}

TEST(Diff, a_newer_minor_tells_what_it_means_for_ptx_gpus_and_compilers) {
  const auto diff =
      diff_of(lock_of("toolkit: {nvcc: \"13.0\"}\n"), lock_of("toolkit: {nvcc: \"13.4\"}\n"));
  const auto* nvcc = change_of(diff, "nvcc");
  ASSERT_NE(nvcc, nullptr);
  EXPECT_EQ(nvcc->kind, Kind::version);
  EXPECT_EQ(nvcc->from, "13.0.88");
  EXPECT_TRUE(nvcc->is_upgrade);
  const auto* ptx = effect_on(diff, "PTX ISA");
  ASSERT_NE(ptx, nullptr);
  EXPECT_EQ(ptx->from + " " + ptx->to, "9.0 9.4");
  EXPECT_THAT(ptx->text, HasSubstr("615"));
  EXPECT_THAT(ptx->text, HasSubstr("580"));
  ASSERT_NE(effect_on(diff, "GPUs gained"), nullptr);
  EXPECT_EQ(effect_on(diff, "GPUs gained")->to, "sm_107");
  ASSERT_NE(effect_on(diff, "gcc up to"), nullptr);
  EXPECT_EQ(effect_on(diff, "gcc up to")->to, "16");
  ASSERT_NE(effect_on(diff, "glibc 2.42"), nullptr);
  EXPECT_EQ(effect_on(diff, "glibc 2.42")->to, "works");
  EXPECT_EQ(effect_on(diff, "least driver"), nullptr); // 580 for all of CUDA 13
}

TEST(Diff, backwards_is_named_so) {
  const auto diff =
      diff_of(lock_of("toolkit: {nvcc: \"13.4\"}\n"), lock_of("toolkit: {nvcc: \"13.0\"}\n"));
  EXPECT_FALSE(change_of(diff, "nvcc")->is_upgrade);
  EXPECT_EQ(effect_on(diff, "GPUs lost")->from, "sm_107");
}

TEST(Diff, components_come_and_go) {
  const auto without = lock_of("toolkit: {nvcc: \"13.2\"}\n");
  const auto with = lock_of("toolkit: {nvcc: \"13.2\"}\ncomponents: [core, nvrtc]\n");
  const auto added = diff_of(without, with);
  ASSERT_THAT(added.components, SizeIs(1));
  EXPECT_EQ(added.components[0].kind, Kind::added);
  EXPECT_EQ(added.components[0].component, "nvrtc");
  EXPECT_THAT(added.effects, IsEmpty());
  const auto removed = diff_of(with, without);
  ASSERT_THAT(removed.components, SizeIs(1));
  EXPECT_EQ(removed.components[0].kind, Kind::removed);
  EXPECT_THAT(removed.downloads, IsEmpty());
}

TEST(Diff, only_what_the_other_lock_lacks_is_downloaded) {
  const auto without = lock_of("toolkit: {nvcc: \"13.2\"}\n");
  const auto with = lock_of("toolkit: {nvcc: \"13.2\"}\ncomponents: [core, nvrtc]\n");
  const auto diff = diff_of(without, with);
  std::uint64_t size = 0;
  for (const auto& artifact : with.platforms[0].artifacts) {
    size = artifact.component == "nvrtc" ? artifact.size : size;
  }
  ASSERT_THAT(diff.downloads, SizeIs(1));
  EXPECT_EQ(diff.downloads[0].bytes, size);
  EXPECT_EQ(diff.downloads[0].files, 1);
}

TEST(Diff, a_newer_ptxas_is_a_part_of_its_own) {
  const auto diff = diff_of(lock_of("toolkit: {nvcc: \"13.0\"}\n"),
                            lock_of("toolkit: {nvcc: \"13.0\", ptxas: \"13.2\"}\n"));
  const auto* part = change_of(diff, "ptxas of nvcc");
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->kind, Kind::added);
  const auto* nvcc = change_of(diff, "nvcc");
  ASSERT_NE(nvcc, nullptr); // gives up its own ptxas and nvlink
  EXPECT_EQ(nvcc->kind, Kind::files);
  ASSERT_NE(effect_on(diff, "ptxas and nvlink"), nullptr);
  EXPECT_EQ(effect_on(diff, "ptxas and nvlink")->from, "13.0.88");
  EXPECT_EQ(effect_on(diff, "PTX ISA"), nullptr);
}

TEST(Diff, headers_that_become_the_whole_say_so) {
  const auto diff = diff_of(
      lock_of("toolkit: {nvcc: \"13.0\"}\nconsumers: [flashinfer]\n"),
      lock_of("toolkit: {nvcc: \"13.0\"}\nconsumers: [flashinfer]\ncomponents: [core, curand]\n"));
  const auto* curand = change_of(diff, "curand");
  ASSERT_NE(curand, nullptr);
  EXPECT_EQ(curand->kind, Kind::files);
  EXPECT_THAT(curand->from, HasSubstr("headers only"));
  EXPECT_THAT(curand->to, Not(HasSubstr("headers only")));
}

TEST(Diff, the_same_change_on_two_platforms_is_one_line) {
  const auto body = [](const char* nvcc) {
    return fmt::format(
        "gpus: [sm_90]\nplatforms: [linux-x86_64, linux-sbsa]\ntoolkit: {{nvcc: \"{}\"}}\n", nvcc);
  };
  const auto diff = diff_of(resolution_of(body("13.0")).lock, resolution_of(body("13.2")).lock);
  EXPECT_THAT(change_of(diff, "nvcc")->platforms, SizeIs(2));
  EXPECT_THAT(diff.downloads, SizeIs(2));
}

TEST(Diff, platforms_that_come_and_go_are_named) {
  const auto one = lock_of("");
  const auto two = resolution_of("gpus: [sm_90]\nplatforms: [linux-x86_64, linux-sbsa]\n").lock;
  EXPECT_THAT(diff_of(one, two).platforms_added, SizeIs(1));
  EXPECT_THAT(diff_of(two, one).platforms_removed, SizeIs(1));
  EXPECT_THAT(diff_of(two, one).components, IsEmpty());
}

TEST(Diff, the_gpus_of_the_locks_are_compared) {
  const auto diff = diff_of(
      lock_of(""), resolution_of("gpus: [sm_90, sm_120]\nplatforms: [linux-x86_64]\n").lock);
  const auto* gpus = effect_on(diff, "the lock is for");
  ASSERT_NE(gpus, nullptr);
  EXPECT_EQ(gpus->to, "sm_90, sm_120");
  EXPECT_TRUE(diff.is_same_toolkit());
  EXPECT_FALSE(diff.empty());
}

TEST(Diff, a_release_that_nobody_knows_is_said_to_be_unknown) {
  auto to = lock_of("");
  to.release = *Version::parse("99.1.0");
  const auto diff = diff_of(lock_of(""), to);
  ASSERT_NE(effect_on(diff, "CUDA"), nullptr);
  EXPECT_THAT(effect_on(diff, "CUDA")->text, HasSubstr("does not know CUDA 99.1"));
}

TEST(Diff, the_same_version_with_other_bytes_is_no_equality) {
  const auto from = lock_of("");
  auto to = from;
  to.platforms[0].artifacts[0].sha256 = *Sha256::parse("sha256:" + std::string(64, 'a'));
  const auto diff = diff_of(from, to);
  ASSERT_THAT(diff.components, SizeIs(1));
  EXPECT_EQ(diff.components[0].kind, Kind::bytes);
}

} // namespace
} // namespace cukit::explain
