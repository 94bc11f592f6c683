// What compiles at run time, part by part, before any log is there.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

/// torch's own wheels, which have NVRTC, nvJitLink and headers of 13.0, and no NVVM.
void wheels_of_torch(Scene& scene, const std::string& consumer, const std::string& nvjitlink) {
  const auto site = venv(scene, consumer, "0.20.0");
  const auto root = site + "/nvidia/cu13";
  scene.root.wheels(site, {"", "", "", "13.0.96", ""});
  scene.root.dist(site, "nvidia-nvjitlink", nvjitlink);
  scene.root.put(root + "/lib/libnvJitLink.so.13", "");
  scene.root.put(root + "/lib/libnvrtc.so.13", "");
  scene.root.put(root + "/lib/libnvrtc-builtins.so.13.0", "");
}

const Finding* finding_of(const Diagnosis& diagnosis, const std::string& id) {
  for (const auto& finding : diagnosis.findings) {
    if (finding.id == id) {
      return &finding;
    }
  }
  return nullptr;
}

TEST(RunTimeCompilers, nvvm_of_a_newer_tree_is_too_new_for_the_wheels_nvjitlink) {
  Scene scene;
  wheels_of_torch(scene, "numba-cuda", "13.0.88");
  scene.root.toolkit("/opt/tree", "13.5.37");
  scene.root.put("/opt/tree/nvvm/libdevice/libdevice.10.bc", "BC");
  cuda_home(scene, "/opt/tree");
  const auto diagnosis = diagnosis_of(scene);
  const auto* finding = finding_of(diagnosis, "nvjitlink-older");
  ASSERT_NE(finding, nullptr) << told(diagnosis);
  EXPECT_EQ(finding->consumers, std::vector<std::string>{"numba-cuda"});
  EXPECT_THAT(finding->cause, testing::HasSubstr("NVVM 13.5"));
  EXPECT_THAT(finding->cause, testing::HasSubstr("nvJitLink 13.0"));
  ASSERT_FALSE(finding->fix.empty());
  EXPECT_THAT(finding->fix.front().command.text(), testing::HasSubstr("nvidia-nvjitlink==13.5.*"));
}

TEST(RunTimeCompilers, nvjitlink_that_is_as_new_or_newer_serves) {
  for (const auto* nvjitlink : {"13.5.37", "13.6.1"}) {
    Scene scene;
    wheels_of_torch(scene, "numba-cuda", nvjitlink);
    scene.root.toolkit("/opt/tree", "13.5.37");
    scene.root.put("/opt/tree/nvvm/libdevice/libdevice.10.bc", "BC");
    cuda_home(scene, "/opt/tree");
    const auto diagnosis = diagnosis_of(scene);
    EXPECT_EQ(finding_of(diagnosis, "nvjitlink-older"), nullptr) << told(diagnosis);
  }
}

TEST(RunTimeCompilers, consumer_without_nvvm_does_not_care_for_the_trees) {
  Scene scene;
  wheels_of_torch(scene, "cupy-cuda13x", "13.0.88");
  scene.root.toolkit("/opt/tree", "13.5.37");
  scene.root.put("/opt/tree/nvvm/libdevice/libdevice.10.bc", "BC");
  cuda_home(scene, "/opt/tree");
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_EQ(finding_of(diagnosis, "nvjitlink-older"), nullptr) << told(diagnosis);
}

} // namespace
} // namespace cukit::doctor
