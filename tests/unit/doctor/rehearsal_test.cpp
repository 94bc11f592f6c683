// A fix is printed only when the finding is gone after it: what the typed effects of a fix say is
// held against a second look at the changed machine.
#include "cases.hpp"
#include "doctor/rehearse.hpp"

namespace cukit::doctor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Parts parts() {
  static const auto knowledge = knowledge::Knowledge::embedded();
  return {*knowledge.components().value(), *knowledge.releases().value()};
}

std::vector<std::string> fixes_of(const Diagnosis& diagnosis, std::string_view id) {
  std::vector<std::string> result;
  for (const auto& finding : diagnosis.findings) {
    for (const auto& fix : finding.id == id ? finding.fix : std::vector<Fix>()) {
      result.push_back(fix.text());
    }
  }
  return result;
}

TEST(Effects, of_variables_are_what_a_shell_makes_of_them) {
  survey::Snapshot before;
  before.environment = {{"CUDA_HOME", "/old"}, {"PATH", "/usr/bin"}, {"CPATH", "/x"}};
  const auto then =
      after(before,
            {SetsVariable{"CUDA_HOME", "/new"}, SetsVariable{"PATH", "/new/bin", true},
             SetsVariable{"LIBRARY_PATH", "/new/lib", true}, UnsetsVariable{"CPATH"}},
            parts());
  const std::map<std::string, std::string> expected{
      {"CUDA_HOME", "/new"}, {"PATH", "/new/bin:/usr/bin"}, {"LIBRARY_PATH", "/new/lib"}};
  EXPECT_EQ(then.environment, expected);
}

TEST(Effects, of_path_bring_the_programs_of_that_folder_first) {
  survey::Snapshot before;
  survey::Toolkit kit{.root = "/opt/cuda", .real = "/opt/cuda-13.0"};
  kit.tools["nvcc"] = {.path = "/opt/cuda/bin/nvcc", .real = "/opt/cuda-13.0/bin/nvcc"};
  before.toolkits.push_back(kit);
  before.path_nvcc = {"/usr/bin/nvcc"};
  before.compilers = {{.path = "/usr/bin/g++"}, {.path = "/opt/cuda/bin/g++"}};
  const auto then = after(before, {SetsVariable{"PATH", "/opt/cuda/bin", true}}, parts());
  EXPECT_THAT(then.path_nvcc, ElementsAre("/opt/cuda/bin/nvcc", "/usr/bin/nvcc"));
  EXPECT_EQ(then.compilers.front().path, "/opt/cuda/bin/g++");
  EXPECT_THAT(then.path_ptxas, IsEmpty()) << "it has none";
}

TEST(Effects, of_the_library_path_are_those_of_the_loader) {
  survey::Snapshot before;
  survey::PythonEnvironment python{.prefix = "/venv"};
  python.load_problems = {{.object = "/venv/x.so",
                           .library = "libcusolver.so.11",
                           .taken = "/opt/old/libcusolver.so.11",
                           .led_by = "LD_LIBRARY_PATH",
                           .own = "/venv/nvidia/lib/libcusolver.so.11",
                           .missing = {"new"},
                           .own_has_them = true}};
  before.pythons.push_back(python);
  before.environment["LD_LIBRARY_PATH"] = "/opt/old";
  before.library_path.push_back({.path = "/opt/old"});
  before.driver_libraries = {
      {.path = "/opt/old/libcuda.so.1", .led_by = "LD_LIBRARY_PATH"},
      {.path = "/usr/lib/libcuda.so.1", .led_by = "the loader's own folders"}};
  const auto unset = after(before, {UnsetsVariable{"LD_LIBRARY_PATH"}}, parts());
  EXPECT_THAT(unset.pythons[0].load_problems, IsEmpty());
  EXPECT_THAT(unset.library_path, IsEmpty());
  ASSERT_EQ(unset.driver_libraries.size(), 1U);
  EXPECT_EQ(unset.driver_libraries[0].path, "/usr/lib/libcuda.so.1");
  const auto first =
      after(before, {SetsVariable{"LD_LIBRARY_PATH", "/venv/nvidia/lib", true}}, parts());
  EXPECT_THAT(first.pythons[0].load_problems, IsEmpty());
  const auto driver = after(before, {SetsVariable{"LD_LIBRARY_PATH", "/usr/lib", true}}, parts());
  EXPECT_EQ(driver.driver_libraries[0].path, "/usr/lib/libcuda.so.1");
}

TEST(Effects, of_the_metapackage_bring_its_parts_to_one_release) {
  survey::Snapshot before;
  survey::Toolkit kit{.root = "/venv/nvidia/cu13", .real = "/venv/nvidia/cu13"};
  kit.found_by = {"wheels"};
  kit.environment = "/venv";
  kit.cudart = "13.0";
  kit.tools["nvcc"] = {.path = "/venv/nvidia/cu13/bin/nvcc", .version = "13.5.1"};
  before.toolkits.push_back(kit);
  before.pythons.push_back({.prefix = "/venv"});
  const auto then = after(
      before, {InstallsWheels{"/venv", {"cuda-toolkit[nvcc,crt,nvvm,cccl]==13.0.2"}}}, parts());
  const auto& now = then.toolkits[0];
  for (const char* tool : {"nvcc", "ptxas", "cicc", "cudafe++"}) {
    EXPECT_EQ(now.tools.at(tool).version, "13.0.2") << tool;
  }
  EXPECT_TRUE(now.headers.contains("crt/host_defines.h"));
  EXPECT_TRUE(now.headers.contains("nv/target"));
  EXPECT_NE(survey::find_distribution(then.pythons[0], "nvidia-cuda-nvcc"), nullptr);
}

TEST(Effects, of_a_torch_are_its_version_and_its_cuda) {
  survey::Snapshot before;
  before.pythons.push_back({.prefix = "/venv",
                            .distributions = {{.name = "torch", .version = "2.5.1+cu121"}},
                            .torch = "2.5.1+cu121",
                            .torch_cuda = "12.1"});
  const auto then = after(before, {InstallsWheels{"/venv", {"torch==2.8.0+cu128"}}}, parts());
  EXPECT_EQ(then.pythons[0].torch, "2.8.0+cu128");
  EXPECT_EQ(then.pythons[0].torch_cuda, "12.8");
}

TEST(Rehearsal, takes_out_a_fix_that_leaves_the_finding) {
  Finding finding{.id = "x", .subject = "a"};
  finding.fix = {{.advice = "ask somebody"},
                 {.advice = "set WRONG", .effects = {SetsVariable{"WRONG", "1"}}},
                 {.advice = "set RIGHT", .effects = {SetsVariable{"RIGHT", "1"}}}};
  std::vector<Finding> findings{finding};
  rehearse(findings, {}, parts(), [&](const survey::Snapshot& snapshot) {
    return snapshot.environment.contains("RIGHT") ? std::vector<Finding>()
                                                  : std::vector<Finding>{finding};
  });
  ASSERT_EQ(findings[0].fix.size(), 2U);
  EXPECT_EQ(findings[0].fix[0].advice, "ask somebody");
  EXPECT_EQ(findings[0].fix[1].advice, "set RIGHT");
}

TEST(Rehearsal, prefers_a_fix_that_breaks_nothing_else) {
  Finding finding{.id = "x", .subject = "a"};
  Finding other{.id = "y", .subject = "b"};
  const Fix harmful{.advice = "harmful", .effects = {SetsVariable{"HARMFUL", "1"}}};
  const Fix good{.advice = "good", .effects = {SetsVariable{"GOOD", "1"}}};
  const auto examine = [&](const survey::Snapshot& snapshot) {
    return snapshot.environment.contains("HARMFUL") ? std::vector<Finding>{other}
           : snapshot.environment.contains("GOOD")  ? std::vector<Finding>()
                                                    : std::vector<Finding>{finding};
  };
  finding.fix = {harmful, good};
  std::vector<Finding> findings{finding};
  rehearse(findings, {}, parts(), examine);
  ASSERT_EQ(findings[0].fix.size(), 1U);
  EXPECT_EQ(findings[0].fix[0].advice, "good");
  findings[0].fix = {harmful}; // nothing better is known
  rehearse(findings, {}, parts(), examine);
  EXPECT_EQ(findings[0].fix.size(), 1U);
}

TEST(Rehearsal, of_a_newer_toolkit_of_another_major_than_torch_finds_it_out) {
  Scene scene;
  venv(scene, "", "", "2.8.0+cu128", "12.8");
  scene.root.toolkit("/opt/old", "12.4.131");
  scene.root.toolkit("/opt/new", "13.0.88");
  cuda_home(scene, "/opt/old");
  scene.root.environment.set("CUDA_PATH", "/opt/new");
  gpu(scene, "sm_90");
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_THAT(fixes_of(diagnosis, "variables-disagree"), Contains(HasSubstr("CUDA_PATH=/opt/old")));
  EXPECT_THAT(fixes_of(diagnosis, "two-toolkits"), Not(Contains(HasSubstr("CUDA_HOME=/opt/new"))));
}

TEST(Manifests, name_no_gpu_of_a_machine_that_has_none) {
  Scene scene;
  venv(scene, "flashinfer-python");
  const auto diagnosis = diagnosis_of(scene); // no nvcc at all
  const auto& first = diagnosis.findings.front();
  ASSERT_FALSE(first.fix.empty()) << told(diagnosis);
  EXPECT_THAT(first.fix[0].manifest, HasSubstr("gpus: [sm_90] #")) << told(diagnosis);
  EXPECT_THAT(told(diagnosis), Not(HasSubstr("native")));
}

TEST(Manifests, take_the_targets_that_variables_or_the_log_name) {
  Scene scene;
  venv(scene, "flashinfer-python");
  scene.root.environment.set("FLASHINFER_CUDA_ARCH_LIST", "8.9 12.0f");
  EXPECT_THAT(told(diagnosis_of(scene)), HasSubstr("gpus: [sm_89, sm_120f]"));
  scene.root.environment.unset("FLASHINFER_CUDA_ARCH_LIST");
  scene.log = "nvcc -gencode arch=compute_80,code=sm_80 -c a.cu\n"
              "/bin/sh: 1: nvcc: not found\nninja: build stopped: subcommand failed.\n";
  EXPECT_THAT(told(diagnosis_of(scene)), HasSubstr("gpus: [sm_80]"));
}

TEST(Manifests, are_not_offered_where_cukit_would_refuse_them) {
  for (const auto& [torch, cuda, gpu_name] :
       {std::tuple{"1.13.0+cu117", "11.7", "sm_80"},   // older than every toolkit it has
        std::tuple{"2.8.0+cu128", "12.8", "sm_60"}}) { // no code for the GPU in this torch
    Scene scene;
    venv(scene, "flashinfer-python", "0.6.12", torch, cuda);
    gpu(scene, gpu_name);
    for (const auto& finding : diagnosis_of(scene).findings) {
      for (const auto& fix : finding.fix) {
        EXPECT_EQ(fix.manifest, "") << torch << " " << finding.id;
      }
    }
  }
}

TEST(Wheels, of_the_metapackage_are_those_that_torch_pins) {
  Scene scene;
  const auto site = scene.root.venv(k_venv, "2.11.0+cu130", "13.0");
  scene.root.dist(site, "torch", "2.11.0+cu130", {"cuda-toolkit[cublas,cudart]==13.0.2"});
  scene.root.wheels(site, {"13.5.1", "13.5.1", "13.5.1", "13.0.96", "13.5.1"});
  cuda_home(scene, site + "/nvidia/cu13");
  const auto all = told(diagnosis_of(scene));
  EXPECT_THAT(all, HasSubstr("cuda-toolkit[nvcc,crt,nvvm,cccl]==13.0.2"));
  EXPECT_THAT(all, Not(HasSubstr("==13.0.*")));
}

TEST(Lists, are_written_again_in_the_form_that_their_reader_takes) {
  for (const auto& [consumer, name, value, right] :
       {std::tuple{"flashinfer-python", "FLASHINFER_CUDA_ARCH_LIST", "8.0;9.0", "'8.0 9.0a'"},
        {"transformer-engine", "NVTE_CUDA_ARCHS", "8.0,9.0", "'80;90'"},
        {"", "TORCH_CUDA_ARCH_LIST", "9.0,12.0f", "'9.0;12.0'"}}) {
    Scene scene;
    venv(scene, consumer);
    scene.root.toolkit(k_local, "13.0.88");
    cuda_home(scene, k_local);
    scene.root.environment.set(name, value);
    EXPECT_THAT(fixes_of(diagnosis_of(scene), "architecture-list"),
                Contains(fmt::format("export {}={}", name, right)));
  }
}

struct Distribution {
  const char* release; ///< of os-release
  const char* gxx;
  const char* toolkit;
};
class Distributions : public testing::TestWithParam<Distribution> {};

TEST_P(Distributions, get_commands_of_their_own) {
  Scene scene;
  venv(scene, "flashinfer-python", "0.6.12", "2.8.0+cu128", "12.8");
  scene.root.toolkit(k_local, "12.8.93");
  cuda_home(scene, k_local);
  scene.root.remove(k_local + "/include/curand.h");
  scene.root.put("/etc/os-release", GetParam().release);
  scene.root.environment.set("PATH", k_local + "/bin"); // no g++ in it
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_THAT(fixes_of(diagnosis, "host-compiler-missing"), Contains(HasSubstr(GetParam().gxx)))
      << told(diagnosis);
  EXPECT_THAT(fixes_of(diagnosis, "math-headers-missing"), Contains(HasSubstr(GetParam().toolkit)));
}

INSTANTIATE_TEST_SUITE_P(
    all, Distributions,
    testing::Values(
        Distribution{"ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
                     "apt-get install --no-install-recommends g++ libc6-dev",
                     "apt-get install cuda-toolkit-12-8"},
        Distribution{"ID=pop\nID_LIKE=\"ubuntu debian\"\n", "apt-get install", "cuda-toolkit-12-8"},
        Distribution{"PRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\n", "apt-get install",
                     "cuda-toolkit-12-8"},
        Distribution{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install gcc-c++",
                     "dnf install cuda-toolkit-12-8"},
        Distribution{"ID=fedora\n", "dnf install gcc-c++", "dnf install cuda-toolkit-12-8"},
        Distribution{"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "zypper install gcc-c++",
                     "zypper install cuda-toolkit-12-8"},
        Distribution{"ID=arch\n", "pacman -S gcc", "install all of CUDA 12.8"},
        Distribution{"ID=alpine\n", "apk add g++ musl-dev", "install all of CUDA 12.8"},
        Distribution{"ID=nixos\n", "install a C++ compiler", "install all of CUDA 12.8"}));

} // namespace
} // namespace cukit::doctor
