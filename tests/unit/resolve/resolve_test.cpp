#include "fixture.hpp"

#include <chrono>
#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto k_quickstart = "gpus: [sm_90, sm_120]\n"
                              "pytorch: cu130\n"
                              "consumers: [flashinfer, torch-extensions, triton]\n"
                              "platforms: [linux-x86_64]\n";
constexpr auto k_newer_ptxas = "gpus: [sm_90, sm_120]\n"
                               "toolkit: {nvcc: \"13.0\", ptxas: \">=13.2\"}\n"
                               "platforms: [linux-x86_64]\n";

std::string all_notes(const Resolution& resolution) {
  std::string text;
  for (const auto& note : resolution.notes) {
    text += note.text + "\n";
  }
  return text;
}

std::vector<std::string> components_of(const Resolution& resolution,
                                       Platform platform = Platform::Kind::linux_x86_64) {
  std::vector<std::string> names;
  for (const auto& artifact : resolution.lock.find(platform)->artifacts) {
    names.push_back(artifact.component);
  }
  return names;
}

TEST(Resolve, quickstart_takes_the_newest_patch_of_pytorchs_minor) {
  const auto result = resolution_of(k_quickstart);
  // versions as the metapackage 13.0.3 pins them
  EXPECT_EQ(result.lock.release.text(), "13.0.3");
  EXPECT_EQ(version_of(result, "nvcc"), "13.0.88");
  EXPECT_EQ(version_of(result, "crt"), "13.0.88");
  EXPECT_EQ(version_of(result, "nvvm"), "13.0.88");
  EXPECT_EQ(version_of(result, "cudart"), "13.0.96");
  EXPECT_EQ(version_of(result, "cccl"), "13.0.85");
  EXPECT_EQ(result.lock.driver, "580");
  EXPECT_EQ(result.lock.pins.count("cuda_toolkit-13.0.3.0-py2.py3-none-any.whl"), 1U);
  EXPECT_EQ(result.lock.find(Platform::Kind::linux_x86_64)->glibc,
            "2.27"); // curand and its siblings
}

TEST(Resolve, headers_of_the_maths_libraries_come_by_ranges) {
  const auto result = resolution_of(k_quickstart);
  for (const auto* name : {"cublas", "curand", "cusolver", "cusparse"}) {
    const auto artifact = artifact_of(result, name);
    EXPECT_THAT(artifact.take, ElementsAre("include/")) << name;
    EXPECT_EQ(artifact.why, "needed-by flashinfer") << name;
    EXPECT_FALSE(artifact.record.has_value() &&
                 !recipes().pins().value()->contains("RECORD of " + artifact.file));
  }
  std::vector<std::string> unfinished;
  for (const auto& entry : result.needs_record) {
    const auto& artifact = result.lock.platforms[entry.platform].artifacts[entry.artifact];
    EXPECT_EQ(artifact.file, entry.wheel.file);
    EXPECT_FALSE(artifact.record.has_value());
    unfinished.push_back(artifact.component);
  }
  for (const auto& artifact : result.lock.platforms.front().artifacts) {
    const bool is_unfinished =
        std::count(unfinished.begin(), unfinished.end(), artifact.component) > 0;
    EXPECT_EQ(is_unfinished || artifact.record.has_value(),
              artifact.take == std::vector<std::string>{"include/"});
  }
}

TEST(Resolve, a_component_wanted_whole_is_not_cut_to_its_headers) {
  const auto result = resolution_of(std::string(k_quickstart) + "components: [core, cublas]\n");
  EXPECT_THAT(artifact_of(result, "cublas").take, IsEmpty());
  EXPECT_EQ(artifact_of(result, "cublas").why, "manifest components");
  EXPECT_THAT(artifact_of(result, "curand").take, ElementsAre("include/"));
}

TEST(Resolve, newest_with_run_time_compilation_and_binary_tools) {
  const auto result =
      resolution_of("gpus: [sm_90, sm_120]\ntoolkit: {nvcc: \"13.5\"}\nplatforms: [linux-x86_64]\n"
                    "components: [core, nvrtc, nvjitlink, binutils]\nconsumers: [flashinfer, "
                    "torch-extensions]\n");
  EXPECT_EQ(result.lock.release.text(), "13.5.0");
  EXPECT_EQ(version_of(result, "nvcc"), "13.5.37");
  EXPECT_EQ(version_of(result, "cccl"), "13.3.5.0.6");
  EXPECT_EQ(version_of(result, "cuobjdump"), "13.5.37");
  EXPECT_EQ(version_of(result, "nvjitlink"), "13.5.37");
  EXPECT_EQ(artifact_of(result, "nvcc").why, "manifest toolkit.nvcc");
  EXPECT_EQ(artifact_of(result, "cuobjdump").why, "group binutils");
}

TEST(Resolve, without_pytorch_takes_the_newest_release) {
  EXPECT_EQ(resolution_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\n").lock.release.text(),
            "13.5.0");
}

TEST(Resolve, a_newer_ptxas_brings_its_nvlink_and_replaces_both) {
  const auto result = resolution_of(k_newer_ptxas);
  EXPECT_EQ(result.lock.release.text(), "13.0.3");
  const auto base = artifact_of(result, "nvcc");
  const auto part = artifact_of(result, "nvcc", true);
  EXPECT_EQ(base.version.text(), "13.0.88");
  EXPECT_THAT(base.leave, ElementsAre("bin/nvlink", "bin/ptxas"));
  EXPECT_EQ(part.version.text(), "13.2.86"); // the lowest newer minor in its newest patch release
  EXPECT_THAT(part.take, ElementsAre("bin/nvlink", "bin/ptxas"));
  EXPECT_EQ(part.why, "manifest toolkit.ptxas");
  EXPECT_FALSE(part.record.has_value()); // unpacked as a whole, so that a tree of 13.2 shares it
  EXPECT_EQ(result.lock.pins.count("cuda_toolkit-13.2.2-py2.py3-none-any.whl"), 1U);
  EXPECT_THAT(all_notes(result), HasSubstr("nvlink 13.2.86 along"));
}

TEST(Resolve, a_ptxas_wish_that_nvccs_own_meets_changes_nothing) {
  const auto result = resolution_of(
      "gpus: [sm_90]\ntoolkit: {nvcc: \"13.2\", ptxas: \">=13.2\"}\nplatforms: [linux-x86_64]\n");
  EXPECT_EQ(version_of(result, "nvcc", true), "");
  EXPECT_THAT(artifact_of(result, "nvcc").leave, Not(testing::Contains("bin/ptxas")));
}

TEST(Resolve, nvjitlink_floats_to_the_newest_patch_of_nvccs_minor) {
  // 13.4.1's metapackage says >=13.4.52,<14; nvcc is 13.4.59 there, and 13.4.92 and 13.5.37 are on
  // the index too
  const auto result = resolution_of("gpus: [sm_90]\ntoolkit: {nvcc: \"13.4.1\"}\ncomponents: "
                                    "[core, nvjitlink]\nplatforms: [linux-x86_64]\n");
  EXPECT_EQ(version_of(result, "nvcc"), "13.4.59");
  EXPECT_EQ(version_of(result, "nvjitlink"), "13.4.92");
}

TEST(Resolve, binary_tools_of_old_releases_come_from_the_lowest_newer_minor) {
  const auto result = resolution_of("gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\ncomponents: [core, "
                                    "binutils]\nplatforms: [linux-x86_64]\n");
  EXPECT_EQ(version_of(result, "cuobjdump"), "13.2.86");
  EXPECT_EQ(version_of(result, "nvdisasm"), "13.2.86");
  EXPECT_EQ(result.lock.pins.count("cuda_toolkit-13.2.2-py2.py3-none-any.whl"), 1U);
}

TEST(Resolve, cccl_can_be_newer_and_is_counted_in_its_own_numbers) {
  const auto result = resolution_of(
      "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\", cccl: \">=3.4\"}\nplatforms: [linux-x86_64]\n");
  EXPECT_EQ(version_of(result, "cccl"), "13.3.4.3.1");
  EXPECT_EQ(artifact_of(result, "cccl").why, "manifest toolkit.cccl");
  EXPECT_EQ(version_of(resolution_of("gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\", cccl: "
                                     "matched}\nplatforms: [linux-x86_64]\n"),
                       "cccl"),
            "13.0.85");
}

TEST(Resolve, serves_server_arm_with_its_own_files) {
  const auto result = resolution_of(std::string(k_quickstart)
                                        .replace(std::string(k_quickstart).find("[linux-x86_64]"),
                                                 14, "[linux-sbsa, linux-x86_64]"));
  ASSERT_EQ(result.lock.platforms.size(), 2U);
  EXPECT_EQ(result.lock.platforms[0].platform, Platform(Platform::Kind::linux_x86_64));
  EXPECT_EQ(components_of(result), components_of(result, Platform::Kind::linux_sbsa));
  for (const auto& artifact : result.lock.platforms[1].artifacts) {
    EXPECT_THAT(artifact.file, HasSubstr("aarch64"));
  }
}

TEST(Resolve, leaves_out_a_group_member_that_a_platform_does_not_have) {
  const auto body =
      "gpus: [sm_90]\ncomponents: [core, opencl]\nplatforms: [linux-x86_64, linux-sbsa]\n";
  const auto conflict = conflict_of(body); // named by itself, so nothing is passed over
  EXPECT_THAT(text_of(conflict), HasSubstr("components: opencl"));
  EXPECT_THAT(text_of(conflict), HasSubstr("platforms: linux-sbsa"));
  EXPECT_EQ(conflict.demands.size(), 2U);
}

TEST(Resolve, every_group_resolves_on_both_platforms_and_its_lock_holds) {
  const auto& groups = *recipes().groups().value();
  for (const auto& [group, members] : groups) {
    for (const auto* platform : {"linux-x86_64", "linux-sbsa"}) {
      const auto manifest = manifest_of(
          fmt::format("gpus: [sm_90]\ncomponents: [core, {}]\nplatforms: [{}]\n", group, platform));
      auto answer = answer_to(manifest, real_catalog());
      ASSERT_TRUE(std::holds_alternative<Resolution>(answer))
          << group << text_of(std::get<Conflict>(answer));
      const auto& lock = std::get<Resolution>(answer).lock;
      EXPECT_EQ(stale(lock, manifest, recipes(), {}).value_or("error"), "")
          << group << " on " << platform;
    }
  }
}

TEST(Resolve, takes_versions_of_releases_and_of_builds) {
  const auto release = [](const std::string& wish) {
    return resolution_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\ntoolkit: {nvcc: \"" + wish +
                         "\"}\n")
        .lock.release.text();
  };
  EXPECT_EQ(release("13.0.1"), "13.0.1");
  EXPECT_EQ(release("13.1.2"), "13.1.2"); // the index says 13.1.2.0
  EXPECT_EQ(release("13.2.78"), "13.2.1");
  EXPECT_EQ(release(">=13.1,<13.4"), "13.3.1");
}

TEST(Resolve, never_takes_a_release_candidate_unasked) {
  const auto full = full_catalog(); // holds 13.4.0rc1
  const auto body = [](const std::string& wish) {
    return manifest_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\ntoolkit: {nvcc: \"" + wish +
                       "\"}\n");
  };
  auto unasked = answer_to(body("13.4.0"), full);
  ASSERT_TRUE(std::holds_alternative<Conflict>(unasked));
  EXPECT_THAT(text_of(std::get<Conflict>(unasked)), HasSubstr("CUDA 13.4.0rc1 is a pre-release"));
  auto asked = answer_to(body("13.4.0rc1"), full);
  ASSERT_TRUE(std::holds_alternative<Resolution>(asked)) << text_of(std::get<Conflict>(asked));
  EXPECT_EQ(std::get<Resolution>(asked).lock.release.text(), "13.4.0rc1");
  EXPECT_EQ(version_of(std::get<Resolution>(asked), "nvcc"), "13.4.46rc1");
}

TEST(Resolve, says_what_newer_release_was_left_out) {
  auto catalog = real_catalog();
  auto file = catalog.releases.back().file;
  file.version = *Version::parse("13.6.0");
  catalog.projects["cuda-toolkit"].push_back(file);
  file.version = *Version::parse("13.5.1");
  file.yanked = true;
  file.yanked_why = "broken headers";
  catalog.projects["cuda-toolkit"].push_back(file);
  const auto answer = answer_to(manifest_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\n"), catalog);
  const auto& resolution = std::get<Resolution>(answer);
  EXPECT_EQ(resolution.lock.release.text(), "13.5.0");
  EXPECT_THAT(all_notes(resolution),
              HasSubstr("CUDA 13.6.0 is offered, but this cukit does not know it"));
  EXPECT_THAT(all_notes(resolution), HasSubstr("CUDA 13.5.1 was yanked: broken headers"));
  EXPECT_THAT(all_notes(resolution_of(k_quickstart)), Not(HasSubstr("pre-release")));
}

TEST(Resolve, does_not_take_a_yanked_file) {
  auto catalog = real_catalog();
  for (auto& wheel : catalog.projects["nvidia-nvjitlink"]) {
    wheel.yanked = wheel.version == *Version::parse("13.4.92");
  }
  const auto answer =
      answer_to(manifest_of("gpus: [sm_90]\ntoolkit: {nvcc: \"13.4.1\"}\ncomponents: [core, "
                            "nvjitlink]\nplatforms: [linux-x86_64]\n"),
                catalog);
  EXPECT_EQ(version_of(std::get<Resolution>(answer), "nvjitlink"), "13.4.52");
}

TEST(Resolve, a_target_that_begins_later_moves_off_pytorchs_minor_and_says_what_it_risks) {
  const auto result = resolution_of("gpus: [sm_107]\npytorch: cu130\nplatforms: [linux-x86_64]\n");
  EXPECT_EQ(result.lock.release.text(),
            "13.4.3"); // the lowest minor that knows it, and its newest patch
  EXPECT_THAT(all_notes(result), HasSubstr("CUDA 13.4 is newer than PyTorch's 13.0"));
}

TEST(Resolve, ptx_newer_than_the_oldest_driver_is_a_note) {
  const auto body =
      "gpus: [sm_90]\ndriver: \">=580\"\nplatforms: [linux-x86_64]\ntoolkit: {nvcc: \"13.2\"}\n";
  EXPECT_THAT(
      all_notes(resolution_of(body)),
      HasSubstr("CUDA 13.2 writes PTX 9.2, and a driver of CUDA 13.0 compiles PTX up to 9.0"));
  const auto calm = resolution_of(
      "gpus: [sm_90]\ndriver: \">=595\"\nplatforms: [linux-x86_64]\ntoolkit: {nvcc: \"13.2\"}\n");
  EXPECT_THAT(all_notes(calm), Not(HasSubstr("PTX")));
  EXPECT_EQ(calm.lock.driver, "595");
}

TEST(Resolve, an_unnamed_driver_is_said_to_be_unchecked) {
  EXPECT_THAT(all_notes(resolution_of(k_quickstart)), HasSubstr("none was checked"));
}

TEST(Resolve, records_what_native_showed_as_an_observation) {
  MachineFacts machine;
  machine.gpus = {
      {.index = 0, .name = "NVIDIA H200", .uuid = "GPU-1", .target = *GpuTarget::parse("sm_90")}};
  const auto result =
      resolution_of("gpus: native\npytorch: cu130\nplatforms: [linux-x86_64]\n", machine);
  EXPECT_TRUE(result.lock.observed_gpus);
  ASSERT_EQ(result.lock.gpus.size(), 1U);
  EXPECT_EQ(result.lock.gpus.front().sm(), "sm_90");
}

TEST(Resolve, this_machines_compiler_binds_only_where_the_manifest_names_it) {
  MachineFacts machine;
  machine.compiler =
      machine::Compiler{.path = "/usr/bin/g++", .kind = "gcc", .version = *Version::parse("16.1")};
  const auto free =
      resolution_of("gpus: [sm_90]\npytorch: cu130\nplatforms: [linux-x86_64]\n", machine);
  EXPECT_EQ(free.lock.release.text(), "13.0.3");
  EXPECT_THAT(all_notes(free), HasSubstr("takes gcc up to 15"));
  const auto bound = resolution_of(
      "gpus: [sm_90]\npytorch: cu130\nplatforms: [linux-x86_64]\nhost: {compiler: gcc}\n", machine);
  EXPECT_EQ(bound.lock.release.text(), "13.4.3"); // the first whose headers accept gcc 16
}

TEST(Resolve, a_machine_with_a_new_c_library_needs_a_newer_release) {
  MachineFacts machine;
  machine.glibc = *Version::parse("2.42");
  const auto result = resolution_of(
      "gpus: [sm_90]\npytorch: cu130\nplatforms: [linux-x86_64]\nhost: {compiler: gcc}\n", machine);
  EXPECT_EQ(result.lock.release.text(), "13.2.2");
}

TEST(Resolve, writes_a_lock_that_reads_back) {
  for (const auto* body : {k_quickstart, k_newer_ptxas}) {
    const auto lock = resolution_of(body).lock;
    const auto text = lock::write(lock);
    auto again = lock::read(text, "x");
    // ranged artifacts without record are unfinished, not wrong
    ASSERT_TRUE(again.has_value()) << again.error().message << text;
    EXPECT_EQ(*again, lock);
  }
}

TEST(Resolve, gives_a_reason_for_every_choice) {
  const auto result = resolution_of(k_newer_ptxas);
  EXPECT_EQ(result.choices.size(), result.lock.platforms.front().artifacts.size() + 1);
  for (const auto& choice : result.choices) {
    EXPECT_FALSE(choice.reason.empty()) << choice.component;
    EXPECT_FALSE(choice.version.empty()) << choice.component;
  }
}

TEST(Wanted, names_the_projects_of_the_closure_and_every_minor_with_an_nvcc) {
  const auto result = wanted(manifest_of(k_quickstart), recipes());
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->projects, testing::IsSupersetOf({"cuda-toolkit", "nvidia-cuda-nvcc",
                                                       "nvidia-curand", "nvidia-nvvm"}));
  EXPECT_THAT(result->projects, Not(testing::Contains("nvidia-npp")));
  EXPECT_THAT(result->minors, ElementsAre("13.0", "13.1", "13.2", "13.3", "13.4", "13.5"));
  EXPECT_FALSE(result->prereleases);
}

TEST(Resolve, tells_how_long_it_takes) {
  const auto manifest = manifest_of(k_quickstart);
  const auto catalog = real_catalog();
  const auto begin = std::chrono::steady_clock::now();
  constexpr int k_rounds = 20;
  for (int i = 0; i < k_rounds; ++i) {
    answer_to(manifest, catalog);
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  RecordProperty("milliseconds", fmt::format("{:.2f}", taken.count() / k_rounds));
  fmt::print("resolve: {:.2f} ms\n", taken.count() / k_rounds);
}

} // namespace
} // namespace cukit::resolve
