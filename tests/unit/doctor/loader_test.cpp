// The driver's libraries and what the loader takes, as findings.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

void library(Scene& scene, const std::string& folder, const std::string& version) {
  scene.root.put(folder + "/libcuda.so." + version, "x");
  scene.root.link(folder + "/libcuda.so.1", "libcuda.so." + version);
}
void configuration(Scene& scene, const std::string& name, const std::string& folder) {
  scene.root.put("/etc/ld.so.conf.d/" + name, folder + "\n");
}

const std::string k_system = "/usr/lib/x86_64-linux-gnu";
const std::string k_compat = "/usr/local/cuda/compat";

TEST(DriverLibrary, an_older_compat_library_before_the_drivers_own) {
  Scene scene;
  library(scene, k_system, "580.105.08");
  library(scene, k_compat, "575.57.08");
  configuration(scene, "00-cuda-compat.conf", k_compat);
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, "driver-library-older");
  EXPECT_THAT(first.cause, HasSubstr("575.57.08"));
  EXPECT_THAT(first.cause, HasSubstr("580.105.08"));
  EXPECT_EQ(first.fix.front().text(), "rm /etc/ld.so.conf.d/00-cuda-compat.conf && ldconfig");
}

TEST(DriverLibrary, in_ld_library_path_the_variable_is_to_blame) {
  Scene scene;
  library(scene, k_system, "580.105.08");
  library(scene, k_compat, "550.54.15");
  scene.root.environment.set("LD_LIBRARY_PATH", k_compat);
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().id, "driver-library-older");
  EXPECT_THAT(diagnosis.findings.front().fix.front().text(), HasSubstr("unset LD_LIBRARY_PATH"));
}

/// What the compatibility package is made for.
TEST(DriverLibrary, a_newer_compat_library_is_silent) {
  Scene scene;
  library(scene, k_system, "550.54.15");
  library(scene, k_compat, "575.57.08");
  scene.root.put("/sys/module/nvidia/version", "550.54.15\n");
  configuration(scene, "00-cuda-compat.conf", k_compat);
  EXPECT_THAT(told(diagnosis_of(scene)), Not(HasSubstr("driver-")));
}

TEST(DriverLibrary, libraries_newer_than_the_loaded_module) {
  Scene scene;
  library(scene, k_system, "550.107.02");
  scene.root.put("/sys/module/nvidia/version", "550.90.07\n");
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().id, "driver-half-updated");
  EXPECT_EQ(diagnosis.findings.front().fix.front().text(), "reboot");
}

TEST(DriverLibrary, a_stub_before_the_driver) {
  Scene scene;
  scene.root.put("/usr/local/cuda/lib64/stubs/libcuda.so.1", "x");
  library(scene, k_system, "580.105.08");
  scene.root.environment.set("LD_LIBRARY_PATH", "/usr/local/cuda/lib64/stubs");
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().id, "driver-stub-loaded");
}

TEST(DriverLibrary, one_version_of_everything_is_silent) {
  Scene scene;
  library(scene, k_system, "580.105.08");
  scene.root.put("/sys/module/nvidia/version", "580.105.08\n");
  scene.root.put("/usr/lib/wsl/lib/libcuda.so.1.1", "x");
  EXPECT_THAT(told(diagnosis_of(scene)), Not(HasSubstr("driver-")));
}

/// nvidia-nccl-cu11 and -cu12 both write nvidia/nccl/lib/libnccl.so.2.
TEST(WheelFiles, the_owner_that_torch_asks_for_stays) {
  Scene scene;
  const auto site = scene.root.venv(k_venv, "2.8.0+cu128", "12.8");
  scene.root.dist(site, "torch", "2.8.0", {"nvidia-nccl-cu12==2.27.3"});
  scene.root.dist(site, "nvidia-nccl-cu11", "2.14.3");
  scene.root.dist(site, "nvidia-nccl-cu12", "2.27.3");
  scene.root.put(site + "/nvidia/nccl/lib/libnccl.so.2", "older");
  for (const auto& [name, size] :
       {std::pair{"nvidia_nccl_cu11-2.14.3", "5"}, std::pair{"nvidia_nccl_cu12-2.27.3", "29672"}}) {
    scene.root.put(site + "/" + name + ".dist-info/RECORD",
                   std::string("nvidia/nccl/lib/libnccl.so.2,sha256=x,") + size + "\n");
  }
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, "wheel-files-overwritten");
  EXPECT_THAT(first.fix.front().text(), HasSubstr("uninstall"));
  EXPECT_THAT(first.fix.front().text(), HasSubstr("nvidia-nccl-cu11"));
  EXPECT_THAT(first.fix.front().text(),
              HasSubstr("--force-reinstall --no-deps nvidia-nccl-cu12==2.27.3"));
}

} // namespace
} // namespace cukit::doctor
