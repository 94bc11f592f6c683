// Who takes what: the order in which consumers look, when three toolkits could be found.
#include "cases.hpp"

#include <map>

namespace cukit::doctor {
namespace {

using testing::HasSubstr;

/// CUDA_HOME, PATH and /usr/local/cuda lead to three toolkits; every consumer is there.
class ThreeToolkits : public testing::Test {
protected:
  void SetUp() override {
    for (const auto& [root, version] :
         {std::pair{"/opt/home", "13.0.88"}, std::pair{"/opt/path", "12.9.86"},
          std::pair{"/usr/local/cuda-12.8", "12.8.93"}}) {
      scene.root.toolkit(root, version);
    }
    scene.root.link("/usr/local/cuda", "cuda-12.8");
    scene.root.prepend_path("/opt/path/bin");
    cuda_home(scene, "/opt/home");
    const auto site = venv(scene);
    for (const char* name : {"flashinfer-python", "vllm", "sglang", "apache-tvm-ffi", "deep-gemm",
                             "tilelang", "flash-attn", "jax", "transformer-engine", "triton"}) {
      scene.root.dist(site, name, "9.0"); // newer than all that the recipes know
    }
    scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas", "12.8.61");
    scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas-blackwell", "12.9.86");
  }
  std::map<std::string, Found> found() {
    std::map<std::string, Found> result;
    for (auto& one : diagnosis_of(scene).consumers) {
      result.emplace(one.consumer, std::move(one));
    }
    return result;
  }
  Scene scene;
};

TEST_F(ThreeToolkits, most_take_CUDA_HOME_cmake_takes_PATH_and_xla_neither) {
  auto all = found();
  for (const char* name : {"flashinfer", "vllm", "sglang", "tvm-ffi", "deepgemm", "tilelang",
                           "flash-attention", "torch-extensions"}) {
    EXPECT_EQ(all[name].nvcc, "/opt/home/bin/nvcc") << name;
  }
  EXPECT_EQ(all["cmake"].nvcc, "/opt/path/bin/nvcc");
  EXPECT_EQ(all["jax"].ptxas, "/opt/path/bin/ptxas");
  EXPECT_EQ(all["transformer-engine"].headers, "/opt/home/include");
  EXPECT_THAT(all["triton"].ptxas, HasSubstr("/triton/backends/nvidia/bin/ptxas"));
}

TEST_F(ThreeToolkits, without_CUDA_HOME_PATH_is_next_and_then_usr_local_cuda) {
  scene.root.environment.unset("CUDA_HOME");
  EXPECT_EQ(found()["flashinfer"].nvcc, "/opt/path/bin/nvcc");
  scene.root.environment.set("PATH", "/usr/bin:/bin");
  EXPECT_EQ(found()["flashinfer"].nvcc, "/usr/local/cuda/bin/nvcc");
  EXPECT_EQ(found()["cmake"].nvcc, "");
}

TEST_F(ThreeToolkits, a_variable_of_its_own_goes_before_the_root) {
  scene.root.environment.set("FLASHINFER_NVCC", "/opt/path/bin/nvcc");
  scene.root.environment.set("CUDACXX", "/usr/local/cuda/bin/nvcc");
  auto all = found();
  EXPECT_EQ(all["flashinfer"].nvcc, "/opt/path/bin/nvcc");
  EXPECT_EQ(all["flashinfer"].root, "/opt/home"); // it still links there
  EXPECT_EQ(all["cmake"].nvcc_version, "12.8.93");
}

TEST_F(ThreeToolkits, xla_takes_its_flag_first) {
  scene.root.environment.set("XLA_FLAGS", "--xla_foo --xla_gpu_cuda_data_dir=/opt/home");
  EXPECT_EQ(found()["jax"].ptxas_version, "13.0.88");
}

TEST_F(ThreeToolkits, triton_takes_another_ptxas_from_compute_capability_ten_on) {
  gpu(scene, "sm_100");
  EXPECT_EQ(found()["triton"].ptxas_version, "12.9.86");
  scene.root.environment.set("TRITON_PTXAS_BLACKWELL_PATH", "/opt/home/bin/ptxas");
  EXPECT_EQ(found()["triton"].ptxas_version, "13.0.88");
}

TEST_F(ThreeToolkits, says_where_it_looked_and_what_it_passed_over) {
  cuda_home(scene, "/gone");
  const auto all = found();
  const auto& tilelang = all.at("tilelang"); // the one that checks
  ASSERT_GE(tilelang.looked.size(), 3U);
  EXPECT_EQ(tilelang.looked[0].outcome, "passed over");
  EXPECT_EQ(tilelang.nvcc, "/opt/path/bin/nvcc");
  EXPECT_EQ(all.at("flashinfer").nvcc, "");
}

TEST(Discovery, a_toolkit_is_found_by_a_name_that_is_not_its_first) {
  Scene scene;
  scene.root.toolkit("/opt/real", "13.0.88");
  scene.root.link("/srv/cuda", "/opt/real");
  scene.root.link("/usr/local/cuda", "/opt/real");
  scene.root.environment.set("CUDA_ROOT", "/srv/cuda"); // reached first, and used by nobody
  venv(scene, "flashinfer-python");
  for (const auto& found : diagnosis_of(scene).consumers) {
    if (found.consumer == "flashinfer") {
      EXPECT_NE(found.nvcc, ""); // /usr/local/cuda, where it looks, is a name of /srv/cuda
      EXPECT_EQ(found.verdict, Verdict::works) << found.why;
    }
  }
}

TEST(Discovery, a_consumer_is_a_file_and_no_code) {
  test::FakeRoot root;
  for (const char* file :
       {"doctor/rules.yaml", "doctor/messages.yaml", "knowledge/gpus.yaml",
        "knowledge/releases.yaml", "knowledge/products.yaml", "knowledge/groups.yaml",
        "knowledge/pytorch.yaml", "knowledge/limits.yaml"}) {
    root.put(std::string("/recipes/") + file, knowledge::Knowledge::embedded().read(file).value());
  }
  const auto components = knowledge::Knowledge::embedded().list("components");
  for (const auto& file : *components) {
    root.put("/recipes/" + file, knowledge::Knowledge::embedded().read(file).value());
  }
  root.put("/recipes/consumers/mine.yaml",
           "summary: mine\nneeds: [core]\nwhy: mine, setup.py\n"
           "discovery:\n  present: [mine]\n  root: [env MY_CUDA, folder /opt/mine]\n");
  root.toolkit("/opt/mine", "13.0.88");
  root.dist(root.venv("/venv"), "mine", "1.0");
  const auto snapshot =
      survey::take_snapshot({.root = root.path(),
                             .environment = root.environment,
                             .venvs = {},
                             .toolkits = {"/opt/mine"},
                             .clues = clues(knowledge::Knowledge::embedded()).value(),
                             .ask_devices = false});
  const auto diagnosis =
      diagnose(snapshot, {}, knowledge::Knowledge::from(root.path() / "recipes"));
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  ASSERT_EQ(diagnosis->consumers.size(), 1U);
  EXPECT_EQ(diagnosis->consumers[0].nvcc_version, "13.0.88");
  EXPECT_EQ(diagnosis->consumers[0].verdict, Verdict::works);
}

} // namespace
} // namespace cukit::doctor
