// Toolkits from NVIDIA's redistributables, resolved from the real manifests.
#include "base/files.hpp"
#include "fixture.hpp"
#include "resolve/known.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// All real manifests, and the real index beside them or nothing of it.
catalog::Catalog redist_catalog(bool with_wheels) {
  static const auto manifests = [] {
    std::vector<catalog::RedistManifest> all;
    for (const auto* product : {"cuda", "cudnn", "cusparselt", "cutensor"}) {
      std::vector<catalog::RedistManifest> own;
      for (const auto& one : test::real_manifests()) {
        if (one.product == product) {
          own.push_back(real_manifest(product, one.label));
        }
      }
      std::sort(own.begin(), own.end(),
                [](const auto& a, const auto& b) { return a.label < b.label; });
      std::move(own.begin(), own.end(), std::back_inserter(all));
    }
    return all;
  }();
  auto catalog = with_wheels ? real_catalog() : catalog::Catalog();
  catalog.manifests = manifests;
  catalog.redist_was_asked = true;
  return catalog;
}

class RedistResolve : public testing::Test {
protected:
  static Resolution resolution(const std::string& body, bool with_wheels = false,
                               const lock::Lock* earlier = nullptr) {
    auto answer = answer_to(manifest_of(body), redist_catalog(with_wheels), {}, earlier);
    if (const auto* conflict = std::get_if<Conflict>(&answer)) {
      ADD_FAILURE() << "a conflict:\n" << text_of(*conflict) << body;
      return {};
    }
    return std::get<Resolution>(std::move(answer));
  }
  static std::string conflict(const std::string& body, bool with_wheels = false) {
    auto answer = answer_to(manifest_of(body), redist_catalog(with_wheels));
    const auto* conflict = std::get_if<Conflict>(&answer);
    EXPECT_NE(conflict, nullptr) << body;
    return conflict == nullptr ? "" : text_of(*conflict);
  }
  static std::vector<std::string> components(const Resolution& resolution) {
    std::vector<std::string> result;
    for (const auto& artifact : resolution.lock.platforms.front().artifacts) {
      result.push_back(artifact.component);
    }
    return result;
  }
  static std::string notes_of(const Resolution& resolution) {
    std::string text;
    for (const auto& note : resolution.notes) {
      text += note.text + "\n";
    }
    return text;
  }
};

std::string manifest_for(const std::string& release, const std::string& platform,
                         const std::string& gpu = "sm_80") {
  return "gpus: [" + gpu + "]\ntoolkit: {nvcc: \"" + release +
         "\"}\nsources: [redist]\nplatforms: [" + platform + "]\n";
}

/// Every manifest from 11.8 on, on every platform that its nvcc is made for.
TEST_F(RedistResolve, every_release_with_a_manifest_resolves_on_each_of_its_platforms) {
  int count = 0;
  for (const auto& manifest : redist_catalog(false).manifests) {
    const auto& label = manifest.label;
    if (manifest.product != "cuda" || label < Version::parse("11.8").value()) {
      continue;
    }
    for (const Platform platform : Platform::all()) {
      const auto* archive = manifest.components.at("cuda_nvcc").find(platform, label);
      if (archive == nullptr) {
        continue; // linux-aarch64 in some releases of 12, and from 13.0 on
      }
      ++count;
      const bool is_tegra = platform.kind() == Platform::Kind::linux_aarch64;
      const auto found = resolution(
          manifest_for(label.text(), std::string(platform.text()), is_tegra ? "sm_87" : "sm_80"));
      EXPECT_EQ(found.lock.release, label);
      const auto nvcc = artifact_of(found, "nvcc", false, platform);
      EXPECT_EQ(nvcc.source, "redist");
      EXPECT_EQ(nvcc.sha256, archive->sha256);
      EXPECT_EQ(nvcc.path, "cuda/redist/" + archive->path.text());
      EXPECT_EQ(nvcc.root, "");
      EXPECT_EQ(found.lock.pins.size(), 1U);
      EXPECT_EQ(found.lock.pins.begin()->first, manifest.path());
      const auto text = lock::write(found.lock);
      const auto again = lock::read(text, "l");
      ASSERT_TRUE(again) << again.error().message << text;
      EXPECT_EQ(lock::write(*again), text);
    }
  }
  EXPECT_EQ(count, 30 + 30 + 20);
}

TEST_F(RedistResolve, before_13_nvccs_archive_brings_crt_and_nvvm) {
  const auto found = resolution(manifest_for("12.4.1", "linux-x86_64"));
  EXPECT_THAT(components(found), ElementsAre("cccl", "cudart", "nvcc"));
  EXPECT_THAT(artifact_of(found, "nvcc").require,
              testing::IsSupersetOf({"bin/nvcc", "nvvm/bin/cicc", "include/crt/host_config.h"}));
  EXPECT_TRUE(artifact_of(found, "nvcc").take.empty());
}

TEST_F(RedistResolve, from_13_on_each_has_an_archive) {
  const auto found = resolution(manifest_for("13.0.2", "linux-x86_64"));
  EXPECT_THAT(components(found), ElementsAre("cccl", "crt", "cudart", "culibos", "nvcc", "nvvm"));
  EXPECT_THAT(artifact_of(found, "cudart").require, Contains("lib/libcudart.so"));
  EXPECT_FALSE(artifact_of(found, "nvcc").trust_first_lock);
  EXPECT_EQ(version_of(resolution(manifest_for("13.3.0", "linux-x86_64")), "cccl"), "13.3.3.3.1");
}

TEST_F(RedistResolve, a_part_of_an_archive_comes_alone_where_the_rest_is_not_wanted) {
  const auto found =
      resolution("gpus: [sm_80]\ntoolkit: {headers: \"12.4\"}\ncomponents: [cudart]\n"
                 "sources: [redist]\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(components(found), ElementsAre("cudart", "nvcc"));
  const auto& artifacts = found.lock.platforms.front().artifacts;
  EXPECT_THAT(artifacts[1].take, ElementsAre("bin/crt/", "include/crt/"));
  EXPECT_THAT(artifacts[1].require, Not(Contains("bin/nvcc")));
  const auto manifest = manifest_of("gpus: [sm_80]\ntoolkit: {headers: \"12.4\"}\ncomponents: "
                                    "[cudart]\nsources: [redist]\nplatforms: [linux-x86_64]\n");
  EXPECT_EQ(stale(found.lock, manifest, recipes(), {}).value(), "");
}

TEST_F(RedistResolve, a_lock_of_archives_is_not_stale) {
  for (const auto* release : {"11.8.0", "12.4.1", "13.0.2"}) {
    const auto body = manifest_for(release, "linux-x86_64");
    const auto found = resolution(body);
    EXPECT_EQ(stale(found.lock, manifest_of(body), recipes(), {}).value(), "") << release;
    EXPECT_TRUE(check_pins(found.lock, recipes()));
  }
}

TEST_F(RedistResolve, row16_a_manifest_with_another_digest_than_the_known_is_refused) {
  auto lock = resolution(manifest_for("13.0.2", "linux-x86_64")).lock;
  lock.pins.begin()->second = Sha256();
  const auto checked = check_pins(lock, recipes());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::integrity);
  EXPECT_THAT(checked.error().message, HasSubstr("fce66717a81c510f"));
}

TEST_F(RedistResolve, cuda_12_comes_from_archives_unasked_and_the_reason_is_said) {
  const auto found = resolution("gpus: [sm_90]\npytorch: cu128\nplatforms: [linux-x86_64]\n", true);
  EXPECT_EQ(found.lock.release.text(), "12.8.1");
  EXPECT_EQ(artifact_of(found, "nvcc").source, "redist");
  EXPECT_THAT(notes_of(found), HasSubstr("hold no nvcc"));
}

/// PyTorch's RELEASE.md: 2.8.0 for CUDA 12.8 begins with Volta; 2.12.0 has no build for 12.9.
TEST_F(RedistResolve, a_build_of_pytorch_must_exist_and_have_code_for_the_gpu) {
  const auto refused = [&](const std::string& body) {
    return conflict(body + "platforms: [linux-x86_64]\n", true);
  };
  const auto old_gpu =
      refused("gpus: [sm_61]\npytorch: 2.8.0+cu128\nconsumers: [torch-extensions]\n");
  EXPECT_THAT(old_gpu, HasSubstr("PyTorch 2.8.0+cu128 has no code for sm_61"));
  EXPECT_THAT(old_gpu, HasSubstr("way out: pytorch: 2.8.0+cu126 instead of 2.8.0+cu128"));
  const auto no_build = refused("gpus: [H100]\npytorch: 2.12.0+cu129\ntoolkit: {nvcc: \"12.9\"}\n");
  EXPECT_THAT(no_build, HasSubstr("2.12.0 is built for cu126, cu130, cu132"));
  EXPECT_THAT(no_build, HasSubstr("pytorch: 2.12.1+cu129 instead of 2.12.0+cu129 -> CUDA 12.9"));
  const auto no_code = refused("gpus: [sm_120]\npytorch: cu121\n");
  EXPECT_THAT(no_code, HasSubstr("no PyTorch built for cu121 has code for sm_120"));
  EXPECT_THAT(no_code, HasSubstr("pytorch: cu128 instead of cu121"));
}

TEST_F(RedistResolve, cuda_13_comes_from_wheels_unless_the_manifest_prefers_archives) {
  const std::string body =
      "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0.2\"}\nplatforms: [linux-x86_64]\n";
  EXPECT_EQ(artifact_of(resolution(body, true), "nvcc").source, "wheels");
  EXPECT_EQ(artifact_of(resolution(body + "sources: [redist, wheels]\n", true), "nvcc").source,
            "redist");
  EXPECT_EQ(artifact_of(resolution(body + "sources: [wheels, redist]\n", true), "nvcc").source,
            "wheels");
}

TEST_F(RedistResolve, headers_of_maths_libraries_are_wheels_even_beside_archives) {
  const auto found =
      resolution("gpus: [sm_90]\ntoolkit: {nvcc: \"13.0.2\"}\nconsumers: [flashinfer]\n"
                 "sources: [redist, wheels]\nplatforms: [linux-x86_64]\n",
                 true);
  EXPECT_EQ(artifact_of(found, "cublas").source, "wheels");
  EXPECT_EQ(artifact_of(found, "nvcc").source, "redist");
}

TEST_F(RedistResolve, what_no_wheel_has_is_taken_from_the_archives_of_the_same_release) {
  const auto found =
      resolution("gpus: [sm_90]\ntoolkit: {nvcc: \"13.0.2\"}\ncomponents: [core, nvprune, "
                 "cuobjdump]\nplatforms: [linux-x86_64]\n",
                 true);
  EXPECT_EQ(artifact_of(found, "nvprune").source, "redist");
  EXPECT_EQ(artifact_of(found, "nvcc").source, "wheels");
  EXPECT_EQ(version_of(found, "cuobjdump").substr(0, 5), "13.0.");
}

TEST_F(RedistResolve, newer_releases_without_a_manifest_are_named_where_they_could_serve) {
  // Volta ends with CUDA 12.9: that no folder has 13.x says nothing
  const auto old = notes_of(resolution("gpus: [sm_70, sm_120]\nsources: [redist]\n"
                                       "platforms: [linux-x86_64]\n"));
  EXPECT_THAT(old, HasSubstr("CUDA 12.9.2 is newer, but no source of redistributables has the "
                             "manifest"));
  EXPECT_THAT(old, Not(HasSubstr("13.")));
  const auto recent = notes_of(resolution("gpus: [sm_90]\nsources: [redist]\n"
                                          "platforms: [linux-x86_64]\n"));
  EXPECT_THAT(recent, HasSubstr("CUDA 13.4.3 and 13.5.0 are newer, but no source of "
                                "redistributables has the manifests: manifest not known"));
}

/// The oldest systems of NVIDIA's installation guides: RHEL 7 up to 12.4, then RHEL 8.
TEST_F(RedistResolve, archives_need_the_c_library_of_the_oldest_supported_system) {
  const auto least = [&](const std::string& release, const std::string& platform) {
    return resolution(manifest_for(release, platform)).lock.platforms.front().glibc;
  };
  EXPECT_EQ(least("12.4.1", "linux-x86_64"), "2.17");
  EXPECT_EQ(least("12.8.1", "linux-x86_64"), "2.28");
  EXPECT_EQ(least("12.4.1", "linux-sbsa"), "2.28");
  EXPECT_EQ(least("12.4.1", "linux-aarch64"), ""); // nobody says
  EXPECT_THAT(notes_of(resolution(manifest_for("12.4.1", "linux-aarch64"))),
              HasSubstr("which C library CUDA 12.4 needs on linux-aarch64 is not known"));
}

TEST_F(RedistResolve, the_debugger_comes_from_the_archives_of_the_release) {
  const auto found = resolution("gpus: [sm_80]\ntoolkit: {nvcc: \"12.4.1\"}\ncomponents: [core, "
                                "cuda-gdb]\nplatforms: [linux-x86_64]\n");
  EXPECT_EQ(version_of(found, "cuda-gdb"), "12.4.127");
}

TEST_F(RedistResolve, a_release_without_a_manifest_is_named_as_such) {
  EXPECT_THAT(conflict("gpus: [sm_90]\ntoolkit: {nvcc: \"13.5\"}\nsources: [redist]\nplatforms: "
                       "[linux-x86_64]\n"),
              HasSubstr("manifest not known to this build"));
  EXPECT_THAT(conflict("gpus: [sm_90]\ntoolkit: {nvcc: \"13.1.0\"}\nsources: [redist]\nplatforms: "
                       "[linux-x86_64]\n"),
              HasSubstr("in none of the sources of redistributables"));
}

TEST_F(RedistResolve, releases_that_only_wheels_have_resolve_from_wheels) {
  for (const auto* release :
       {"13.0.3", "13.1.0", "13.1.2", "13.2.0", "13.2.2", "13.3.1", "13.4.1", "13.4.3", "13.5.0"}) {
    const auto found = resolution("gpus: [sm_90]\ntoolkit: {nvcc: \"" + std::string(release) +
                                      "\"}\nsources: [redist, wheels]\nplatforms: [linux-x86_64]\n",
                                  true);
    EXPECT_EQ(found.lock.release.text(), release);
    EXPECT_EQ(artifact_of(found, "nvcc").source, "wheels");
  }
}

TEST_F(RedistResolve, a_source_that_cannot_serve_is_part_of_the_conflict) {
  const auto text =
      conflict("gpus: [sm_90]\ntoolkit: {nvcc: \"12.8\"}\nsources: [wheels]\nplatforms: "
               "[linux-x86_64]\n",
               true);
  EXPECT_THAT(text, HasSubstr("sources: wheels"));
  EXPECT_THAT(text, HasSubstr("toolkit.nvcc: 12.8"));
  EXPECT_THAT(text, HasSubstr("hold no nvcc"));
  EXPECT_THAT(text, HasSubstr("sources: redist instead of wheels"));
}

TEST_F(RedistResolve, jetsons_of_cuda_12_have_a_platform_of_their_own) {
  const auto found = resolution("gpus: [sm_87]\nplatforms: [linux-aarch64]\n", true);
  EXPECT_EQ(found.lock.release.text(), "12.9.1");
  EXPECT_EQ(artifact_of(found, "nvcc", false, Platform::Kind::linux_aarch64).source, "redist");
}

TEST_F(RedistResolve, libraries_with_numbers_of_their_own_follow_cudas_major) {
  const auto body = [](const std::string& release) {
    return "gpus: [sm_90]\ntoolkit: {nvcc: \"" + release +
           "\"}\ncomponents: [core, cudnn, cutensor, cusparselt]\nsources: [redist]\nplatforms: "
           "[linux-x86_64]\n";
  };
  const auto thirteen = resolution(body("13.0.2"));
  EXPECT_EQ(artifact_of(thirteen, "cudnn").file,
            "cudnn-linux-x86_64-9.14.0.64_cuda13-archive.tar.xz");
  EXPECT_EQ(version_of(thirteen, "cutensor"), "2.3.1.0");
  EXPECT_EQ(version_of(thirteen, "cusparselt"), "0.8.1.1");
  const auto twelve = resolution(body("12.8.1"));
  EXPECT_EQ(artifact_of(twelve, "cudnn").file,
            "cudnn-linux-x86_64-9.14.0.64_cuda12-archive.tar.xz");
  EXPECT_EQ(twelve.lock.pins.size(), 4U);
}

TEST_F(RedistResolve, the_earlier_locks_cudnn_stays) {
  const std::string body = "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0.2\"}\ncomponents: [core, cudnn]\n"
                           "sources: [redist]\nplatforms: [linux-x86_64]\n";
  auto older = redist_catalog(false);
  std::erase_if(older.manifests, [](const auto& manifest) {
    return manifest.product == "cudnn" && manifest.label > Version::parse("9.13.0").value();
  });
  auto first = answer_to(manifest_of(body), older);
  const auto earlier = std::get<Resolution>(first).lock;
  EXPECT_EQ(version_of(resolution(body, false, &earlier), "cudnn"), "9.13.0.50");
}

TEST(PlanSources, asks_only_the_sources_that_could_serve) {
  const auto facts = Facts::load_with_tables(recipes()).value();
  const auto plan = [&](const std::string& body) {
    return plan_sources(manifest_of(body), facts).value();
  };
  const auto newest = plan("gpus: [sm_90]\nplatforms: [linux-x86_64]\n");
  EXPECT_TRUE(newest.ask_wheels);
  EXPECT_FALSE(newest.ask_redist);
  EXPECT_TRUE(newest.may_ask_redist);
  const auto old = plan("gpus: [sm_90]\ntoolkit: {nvcc: \"12.4\"}\nplatforms: [linux-x86_64]\n");
  EXPECT_FALSE(old.ask_wheels);
  EXPECT_TRUE(old.ask_redist);
  EXPECT_THAT(old.minors, ElementsAre("12.4"));
  EXPECT_THAT(old.majors, ElementsAre(12));
  const auto volta = plan("gpus: [sm_70]\nplatforms: [linux-x86_64]\n");
  EXPECT_FALSE(volta.ask_wheels);
  EXPECT_TRUE(volta.ask_redist);
  const auto stated = plan("gpus: [sm_90]\nsources: [redist]\nplatforms: [linux-x86_64]\n");
  EXPECT_FALSE(stated.ask_wheels);
  EXPECT_TRUE(stated.ask_redist);
  const auto impossible = plan("gpus: [sm_50, sm_120]\nplatforms: [linux-x86_64]\n"
                               "toolkit: {nvcc: \"13.0\"}\n");
  EXPECT_TRUE(impossible.ask_wheels);
  EXPECT_FALSE(impossible.ask_redist);
  EXPECT_THAT(impossible.majors, IsEmpty());
}

TEST(PlanSources, nvshmem_is_looked_for_in_both_sources) {
  const auto asked =
      wanted(manifest_of("gpus: [sm_90]\ncomponents: [core, nvshmem]\nsources: [redist, wheels]\n"
                         "platforms: [linux-x86_64]\n"),
             recipes())
          .value();
  EXPECT_THAT(asked.products, Contains("nvshmem"));
  EXPECT_THAT(asked.projects, Contains("nvidia-nvshmem-cu13"));
}

TEST(PlanSources, nccl_comes_from_wheels_beside_archives) {
  const auto facts = Facts::load_with_tables(recipes()).value();
  const auto manifest = manifest_of("gpus: [sm_90]\ntoolkit: {nvcc: \"12.8\"}\ncomponents: [core, "
                                    "nccl]\nplatforms: [linux-x86_64]\n");
  const auto plan = plan_sources(manifest, facts).value();
  EXPECT_TRUE(plan.ask_wheels);
  EXPECT_TRUE(plan.ask_redist);
  const auto asked = wanted(manifest, recipes()).value();
  EXPECT_THAT(asked.projects, Contains("nvidia-nccl-cu12"));
}

} // namespace
} // namespace cukit::resolve
