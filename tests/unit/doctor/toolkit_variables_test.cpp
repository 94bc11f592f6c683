// What `cukit env` keeps from happening, seen on a machine where it was not used: a ptxas that its
// consumer cannot read, a compiler cache that mixes trees, a compiler of another toolkit.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool has(const Diagnosis& diagnosis, std::string_view id) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [&](const auto& finding) { return finding.id == id; });
}

const Found& consumer(const Diagnosis& diagnosis, std::string_view name) {
  static const Found none;
  const auto found = std::find_if(diagnosis.consumers.begin(), diagnosis.consumers.end(),
                                  [&](const auto& one) { return one.consumer == name; });
  return found == diagnosis.consumers.end() ? none : *found;
}

TEST(OldTriton, fails_on_a_ptxas_of_cuda_13_that_a_newer_one_takes) {
  for (const auto& [version, is_refused] : {std::pair{"3.2.0", true},
                                            {"3.3.1", true},
                                            {"3.4.0", true},
                                            {"3.5.0", false},
                                            {"3.6.0", false}}) {
    Scene scene;
    venv(scene, "triton", version);
    scene.root.toolkit(k_local, "13.0.88");
    gpu(scene, "sm_90");
    scene.root.environment.set("TRITON_PTXAS_PATH", k_local + "/bin/ptxas");
    const auto diagnosis = diagnosis_of(scene);
    EXPECT_EQ(has(diagnosis, "ptxas-refused"), is_refused) << version << told(diagnosis);
    EXPECT_EQ(consumer(diagnosis, "triton").verdict == Verdict::fails, is_refused) << version;
    EXPECT_EQ(consumer(diagnosis, "triton").version, version);
    if (is_refused) {
      EXPECT_THAT(told(diagnosis), HasSubstr("unset TRITON_PTXAS_PATH"));
    }
  }
}

TEST(OldTriton, reads_the_variable_with_the_hyphen_for_new_gpus) {
  for (const auto& [version, name] : {std::pair{"3.3.1", "TRITON_PTXAS-BLACKWELL_PATH"},
                                      {"3.6.0", "TRITON_PTXAS_BLACKWELL_PATH"}}) {
    Scene scene;
    venv(scene, "triton", version);
    scene.root.toolkit(k_local, "12.9.86");
    gpu(scene, "sm_120");
    scene.root.environment.set(name, k_local + "/bin/ptxas");
    const auto diagnosis = diagnosis_of(scene);
    EXPECT_EQ(consumer(diagnosis, "triton").ptxas, k_local + "/bin/ptxas") << version;
    EXPECT_FALSE(has(diagnosis, "ptxas-refused")) << told(diagnosis);
  }
}

/// A B300, torch's Triton with the ptxas of its wheel, and CUDA 12.9 as the system's toolkit.
class TritonWithOnePtxas : public testing::TestWithParam<const char*> {
protected:
  TritonWithOnePtxas() {
    const auto site = venv(scene, "triton", GetParam(), "2.9.0+cu128", "12.8");
    scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas", "12.8.93");
    scene.root.toolkit("/usr/local/cuda-12.9", "12.9.86");
    scene.root.link(k_local, "cuda-12.9");
    scene.root.prepend_path(k_local + "/bin");
    gpu(scene, "sm_103");
  }
  Scene scene;
};

TEST_P(TritonWithOnePtxas, is_too_old_for_the_gpu_and_told_of_the_one_that_is_here) {
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, "ptxas-too-old") << told(diagnosis);
  EXPECT_THAT(first.cause, HasSubstr("12.8.93"));
  EXPECT_THAT(first.cause, HasSubstr("sm_103"));
  ASSERT_FALSE(first.fix.empty());
  EXPECT_THAT(first.fix.front().text(),
              HasSubstr("export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas"));
  EXPECT_EQ(consumer(diagnosis, "triton").verdict, Verdict::fails);
}

TEST_P(TritonWithOnePtxas, works_with_the_variable_that_it_reads) {
  scene.root.environment.set("TRITON_PTXAS_PATH", k_local + "/bin/ptxas");
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_FALSE(diagnosis.has_error()) << told(diagnosis);
  EXPECT_EQ(consumer(diagnosis, "triton").verdict, Verdict::works);
}

INSTANTIATE_TEST_SUITE_P(releases, TritonWithOnePtxas, testing::Values("3.4.0", "3.5.1"));

TEST(Triton, is_not_told_of_a_ptxas_that_it_refuses) {
  Scene scene;
  const auto site = venv(scene, "triton", "3.4.0", "2.8.0+cu128", "12.8");
  scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas", "12.8.93");
  scene.root.toolkit(k_local, "13.0.88");
  gpu(scene, "sm_103");
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_TRUE(has(diagnosis, "ptxas-too-old")) << told(diagnosis);
  for (const auto& fix : diagnosis.findings.front().fix) {
    EXPECT_THAT(fix.text(), Not(HasSubstr(k_local + "/bin/ptxas"))) << told(diagnosis);
  }
  EXPECT_FALSE(diagnosis.findings.front().fix.empty());
}

TEST(Triton, goes_back_to_its_own_ptxas_where_the_one_of_a_variable_lost_the_gpu) {
  Scene scene;
  const auto site = venv(scene, "triton", "3.5.0", "2.9.0+cu126", "12.6");
  scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas", "12.8.93");
  scene.root.toolkit(k_local, "13.0.88");
  scene.root.environment.set("TRITON_PTXAS_PATH", k_local + "/bin/ptxas");
  gpu(scene, "sm_70"); // no CUDA 13 has it
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_TRUE(has(diagnosis, "ptxas-too-old")) << told(diagnosis);
  EXPECT_THAT(told(diagnosis), HasSubstr("unset TRITON_PTXAS_PATH"));
}

TEST(CompilerCache, beside_a_tree_of_cukits_must_know_the_tree) {
  for (const auto& [program, variable, right] :
       {std::tuple{"/usr/bin/ccache", "CCACHE_EXTRAFILES", "/trees/00ff/.cukit/input"},
        {"/usr/bin/sccache", "SCCACHE_C_CUSTOM_CACHE_BUSTER", "00ff"}}) {
    Scene scene;
    scene.root.toolkit("/trees/00ff", "13.0.88");
    scene.root.prepend_path("/trees/00ff/bin");
    cuda_home(scene, "/trees/00ff");
    scene.root.put(program, "#!/bin/sh\n", 0755);
    EXPECT_FALSE(has(diagnosis_of(scene), "compiler-cache-mixes-trees")) << "no tree of cukit's";
    scene.root.put("/trees/00ff/.cukit/input", "cukit-tree\t1\nid\t00ff\n");
    const auto diagnosis = diagnosis_of(scene);
    EXPECT_TRUE(has(diagnosis, "compiler-cache-mixes-trees")) << told(diagnosis);
    EXPECT_THAT(told(diagnosis), HasSubstr("cukit env /trees/00ff"));
    EXPECT_FALSE(diagnosis.has_error()) << told(diagnosis);
    scene.root.environment.set(variable, std::string("mine:") + right);
    EXPECT_FALSE(has(diagnosis_of(scene), "compiler-cache-mixes-trees"));
    scene.root.environment.set(variable, "/trees/other/.cukit/input");
    EXPECT_TRUE(has(diagnosis_of(scene), "compiler-cache-mixes-trees")) << "of another tree";
  }
}

TEST(CompilerOfAVariable, of_another_release_than_the_root_never_works) {
  for (const auto& [name, package] : {std::pair{"PYTORCH_NVCC", "torch-extensions"},
                                      {"FLASHINFER_NVCC", "flashinfer"},
                                      {"DG_JIT_NVCC_COMPILER", "deepgemm"}}) {
    for (const auto* launcher : {"", "ccache "}) {
      Scene scene;
      const auto site = venv(scene, "flashinfer-python");
      scene.root.dist(site, "torch", "2.11.0");
      scene.root.dist(site, "deep-gemm", "2.1");
      scene.root.toolkit(k_local, "13.0.88");
      scene.root.toolkit("/opt/older", "12.8.93");
      cuda_home(scene, k_local);
      scene.root.environment.set(name, launcher + std::string("/opt/older/bin/nvcc"));
      const auto diagnosis = diagnosis_of(scene);
      EXPECT_TRUE(has(diagnosis, "nvcc-of-another-toolkit")) << name << told(diagnosis);
      EXPECT_EQ(consumer(diagnosis, package).verdict, Verdict::fails) << name << told(diagnosis);
      EXPECT_EQ(consumer(diagnosis, package).nvcc, "/opt/older/bin/nvcc");
      EXPECT_THAT(told(diagnosis), HasSubstr(std::string("unset ") + name));
    }
  }
}

} // namespace
} // namespace cukit::doctor
