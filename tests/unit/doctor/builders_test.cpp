// What harms a build alone is no error on a machine that only runs things: each machine is asked as
// it is, and once more with each sign that something is built there.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

struct Lack {
  const char* id; ///< of the finding
  std::function<void(Scene&)> build;
};

void PrintTo(const Lack& one, std::ostream* out) {
  *out << one.id;
}

/// CUDA's compilers and runtime headers, as a package brings them that something wanted to have.
void compilers_alone(Scene& scene, const std::string& version = "13.0.88") {
  scene.root.toolkit(k_local, version);
  for (const char* name : {"curand.h", "curand_kernel.h", "cublas_v2.h", "cusparse.h",
                           "cusolverDn.h", "cufft.h", "nvrtc.h"}) {
    scene.root.remove(k_local + "/include/" + name);
  }
  scene.root.prepend_path(k_local + "/bin");
}

void without_gxx(Scene& scene) {
  scene.root.environment.set("PATH", k_local + "/bin");
}

const Lack k_lacks[] = {
    {"math-headers-missing", [](Scene& s) { compilers_alone(s); }},
    {"host-compiler-missing",
     [](Scene& s) {
       compilers_alone(s);
       without_gxx(s);
     }},
    {"headers-missing",
     [](Scene& s) {
       compilers_alone(s);
       s.root.remove(k_local + "/include");
     }},
    {"cccl-missing",
     [](Scene& s) {
       compilers_alone(s);
       s.root.remove(k_local + "/include/cccl");
       s.root.remove(k_local + "/include/nv");
     }},
    {"crt-missing",
     [](Scene& s) {
       compilers_alone(s);
       s.root.remove(k_local + "/include/crt");
     }},
    {"part-missing",
     [](Scene& s) {
       compilers_alone(s);
       s.root.remove(k_local + "/bin/cudafe++");
     }},
    {"nvcc-too-old",
     [](Scene& s) {
       compilers_alone(s, "12.4.131");
       gpu(s, "sm_120");
     }},
    {"host-compiler-too-new",
     [](Scene& s) {
       compilers_alone(s);
       s.root.gxx("17.1.0");
     }},
    {"torch-major-differs", [](Scene& s) { compilers_alone(s, "12.8.93"); }},
    {"variable-wrong-folder",
     [](Scene& s) { // an image for running: the variable is there, the compiler is not
       s.root.put("/usr/local/cuda/lib64/libcudart.so.13", "");
       cuda_home(s, k_local);
     }},
    {"variable-malformed",
     [](Scene& s) {
       compilers_alone(s);
       cuda_home(s, k_local + ":");
     }},
    {"driver-too-old",
     [](Scene& s) {
       s.question.driver = Version::parse("570.124.06").value();
       compilers_alone(s);
     }},
};

Severity severity_of(const Scene& scene, const std::string& id) {
  const auto diagnosis = diagnosis_of(scene);
  const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [&](const auto& finding) { return finding.id == id; });
  EXPECT_NE(found, diagnosis.findings.end()) << id << told(diagnosis);
  return found == diagnosis.findings.end() ? Severity::note : found->severity;
}

class RunningMachines : public testing::TestWithParam<Lack> {
protected:
  /// torch for inference: of CUDA 12 where the driver is the matter, so that torch itself runs.
  void set_up() {
    const bool is_of_12 = std::string_view(GetParam().id) == "driver-too-old";
    site = is_of_12 ? venv(scene, "triton", "3.4.0", "2.8.0+cu128", "12.8")
                    : venv(scene, "triton", "3.6.0");
    scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas", "12.8.93");
    scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas-blackwell", "12.9.86");
    GetParam().build(scene);
  }
  Scene scene;
  std::string site;
};

TEST_P(RunningMachines, are_healthy_whatever_a_build_would_lack) {
  set_up();
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_FALSE(diagnosis.has_error()) << told(diagnosis);
  EXPECT_EQ(severity_of(scene, GetParam().id), Severity::warning);
  for (const auto& found : diagnosis.consumers) {
    EXPECT_NE(found.verdict, Verdict::fails) << found.consumer << told(diagnosis);
    if (found.consumer == "triton") { // it takes nothing of the toolkit
      EXPECT_EQ(found.verdict, Verdict::works) << told(diagnosis);
    }
  }
}

TEST_P(RunningMachines, hear_of_an_error_once_they_ask_about_a_build) {
  set_up();
  scene.question.consumers = {"torch-extensions"};
  EXPECT_EQ(severity_of(scene, GetParam().id), Severity::error);
}

TEST_P(RunningMachines, hear_of_an_error_once_something_compiles_when_it_is_used) {
  set_up();
  scene.root.dist(site, "flashinfer-python", "0.6.12");
  if (std::string_view(GetParam().id) == "torch-major-differs") {
    GTEST_SKIP() << "FlashInfer does not compare the majors";
  }
  EXPECT_EQ(severity_of(scene, GetParam().id), Severity::error);
}

TEST_P(RunningMachines, stay_healthy_where_kernels_were_installed_compiled) {
  set_up();
  scene.root.dist(site, "flashinfer-python", "0.6.12");
  scene.root.dist(site, "flashinfer-jit-cache", "0.6.12");
  EXPECT_EQ(severity_of(scene, GetParam().id), Severity::warning);
}

TEST_P(RunningMachines, hear_of_an_error_once_they_have_built_something) {
  set_up();
  scene.root.put("/home/dev/.cache/torch_extensions/py312_cu130/mine/build.ninja", "nvcc = nvcc\n");
  scene.root.environment.set("TORCH_EXTENSIONS_DIR", "/home/dev/.cache/torch_extensions");
  EXPECT_EQ(severity_of(scene, GetParam().id), Severity::error);
}

TEST_P(RunningMachines, hear_of_an_error_once_a_build_has_failed) {
  set_up();
  scene.log = "mine.cu(3): error: identifier \"x\" is undefined\n"
              "ninja: build stopped: subcommand failed.\n";
  EXPECT_EQ(severity_of(scene, GetParam().id), Severity::error);
}

TEST_P(RunningMachines, stay_healthy_when_a_program_has_failed) {
  set_up();
  scene.log = "RuntimeError: CUDA error: an illegal memory access was encountered\n";
  EXPECT_EQ(severity_of(scene, GetParam().id), Severity::warning);
}

INSTANTIATE_TEST_SUITE_P(all, RunningMachines, testing::ValuesIn(k_lacks), [](const auto& one) {
  std::string name = one.param.id;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Developers, who_have_the_maths_libraries_headers_hear_of_the_one_that_is_missing) {
  Scene scene;
  venv(scene);
  scene.root.toolkit(k_local, "13.0.88");
  cuda_home(scene, k_local);
  scene.root.remove(k_local + "/include/cusparse.h");
  EXPECT_EQ(severity_of(scene, "math-headers-missing"), Severity::error);
}

} // namespace
} // namespace cukit::doctor
