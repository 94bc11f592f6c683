// Environments that work: no error, and the consumers that are there are said to work.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

struct Healthy {
  const char* id;
  std::function<void(Scene&)> build;
};

void PrintTo(const Healthy& one, std::ostream* out) {
  *out << one.id;
}

void system_toolkit(Scene& scene, const std::string& version) {
  scene.root.toolkit("/usr/local/cuda-" + version.substr(0, 4), version);
  scene.root.link("/usr/local/cuda", "cuda-" + version.substr(0, 4));
  scene.root.prepend_path("/usr/local/cuda/bin");
  cuda_home(scene, "/usr/local/cuda");
}

class HealthyEnvironments : public testing::TestWithParam<Healthy> {};

TEST_P(HealthyEnvironments, give_no_error) {
  Scene scene;
  GetParam().build(scene);
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_FALSE(diagnosis.has_error()) << told(diagnosis);
  for (const auto& found : diagnosis.consumers) {
    EXPECT_NE(found.verdict, Verdict::fails) << found.consumer << told(diagnosis);
  }
}

const Healthy k_healthy[] = {
    {"patches_of_one_minor_differ",
     [](Scene& s) {
       const auto site = venv(s, "tilelang", "0.1.6");
       s.root.wheels(site, {"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
       cuda_home(s, site + "/nvidia/cu13");
       s.question.consumers = {"tilelang"}; // torch extensions would miss libcudart.so
     }},
    {"libraries_have_versions_of_their_own",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       system_toolkit(s, "13.0.88");
       for (const auto& [name, version] :
            {std::pair{"nvidia-cusparse", "12.6.3.3"}, std::pair{"nvidia-cufft", "12.0.0.61"},
             std::pair{"nvidia-curand", "10.4.0.35"}}) {
         s.root.dist(site, name, version);
       }
     }},
    {"cudnn_and_nccl_keep_their_suffix",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       system_toolkit(s, "13.0.88");
       s.root.dist(site, "nvidia-cudnn-cu13", "9.19.0.56");
       s.root.dist(site, "nvidia-nccl-cu13", "2.28.9");
     }},
    {"a_newer_cccl_is_given_with_I",
     [](Scene& s) {
       system_toolkit(s, "13.0.88");
       s.root.cccl("/opt/cccl", "3.3.2");
       s.root.environment.set("NVCC_APPEND_FLAGS", "-I/opt/cccl/cccl");
     }},
    {"toolkit_is_a_minor_newer_than_torch_and_the_driver_follows",
     [](Scene& s) {
       venv(s, "flashinfer-python");
       system_toolkit(s, "13.2.78");
       s.root.gpu("NVIDIA H200", "595.45.04");
     }},
    {"usr_local_cuda_is_a_link", [](Scene& s) { system_toolkit(s, "13.0.88"); }},
    {"bin_is_a_link_to_the_folder",
     [](Scene& s) {
       s.root.toolkit("/opt/cuda-13.0", "13.0.88");
       s.root.link("/opt/tools/bin", "/opt/cuda-13.0/bin");
       s.root.prepend_path("/opt/tools/bin");
     }},
    {"absolute_link_through_etc_alternatives",
     [](Scene& s) {
       s.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
       s.root.link("/etc/alternatives/cuda", "/usr/local/cuda-13.0");
       s.root.link("/usr/local/cuda", "/etc/alternatives/cuda");
       venv(s, "flashinfer-python");
       s.root.prepend_path("/usr/local/cuda/bin");
     }},
    {"wrapper_script_in_usr_bin",
     [](Scene& s) {
       s.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
       s.root.put("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/local/cuda-13.0/bin/nvcc \"$@\"\n", 0755);
     }},
    {"debian_package",
     [](Scene& s) {
       s.root.toolkit("/usr/lib/nvidia-cuda-toolkit", "11.8.89");
       s.root.put("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n",
                  0755);
       s.root.gxx("11.3.0");
     }},
    {"conda_activated",
     [](Scene& s) {
       s.root.toolkit("/opt/conda/envs/x", "12.9.86");
       for (const char* package : {"cuda-version-12.9-h4f385c5_3", "cuda-nvcc-12.9.86-hcdd1206_1",
                                   "cuda-cudart-12.9.79-h5888daf_0"}) {
         s.root.put(fmt::format("/opt/conda/envs/x/conda-meta/{}.json", package), "{}");
       }
       s.root.environment.set("CONDA_PREFIX", "/opt/conda/envs/x");
       s.root.prepend_path("/opt/conda/envs/x/bin");
     }},
    {"hpc_sdk",
     [](Scene& s) {
       s.root.toolkit("/opt/nvidia/hpc_sdk/Linux_x86_64/25.9/cuda/13.0", "13.0.88");
       s.root.prepend_path("/opt/nvidia/hpc_sdk/Linux_x86_64/25.9/cuda/13.0/bin");
     }},
    {"module_file_loaded",
     [](Scene& s) {
       venv(s, "flashinfer-python");
       s.root.toolkit("/apps/cuda/13.0", "13.0.88");
       s.root.put("/etc/modulefiles/cuda/13.0", "#%Module\nsetenv CUDA_HOME /apps/cuda/13.0\n");
       cuda_home(s, "/apps/cuda/13.0");
       s.root.prepend_path("/apps/cuda/13.0/bin");
     }},
    {"spack_loaded",
     [](Scene& s) {
       const std::string cuda = "/opt/spack/opt/spack/linux-zen3/cuda-13.0.2-hijklmn";
       s.root.toolkit(cuda, "13.0.88");
       cuda_home(s, cuda);
       s.root.prepend_path(cuda + "/bin");
     }},
    {"nix_merged_outputs",
     [](Scene& s) {
       const std::string cuda = "/nix/store/0a1b2c3d4e5f-cuda-merged-12.8";
       s.root.toolkit(cuda, "12.8.93");
       cuda_home(s, cuda);
       s.root.prepend_path(cuda + "/bin");
     }},
    {"two_toolkits_side_by_side_and_one_is_named",
     [](Scene& s) {
       venv(s, "flashinfer-python");
       system_toolkit(s, "13.0.88");
       s.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
     }},
    {"runtime_image_with_torch_alone", [](Scene& s) { venv(s, "torchvision", "0.26.0"); }},
    {"runtime_image_with_compiled_kernels",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       s.root.dist(site, "flashinfer-cubin", "0.6.12");
       s.root.dist(site, "flashinfer-jit-cache", "0.6.12+cu130");
     }},
    {"nothing_of_cuda_at_all", [](Scene&) {}},
    {"a_13_2_wheel_tree_without_lib64_for_nvcc_alone",
     [](Scene& s) {
       const auto site = venv(s, "deep-gemm", "2.1.0", "2.12.0+cu132", "13.2");
       s.root.wheels(site, {"13.2.78", "13.2.78", "13.2.78", "13.2.75", "13.2.75"});
       s.root.tool(site + "/nvidia/cu13/bin/cuobjdump", "13.2.78");
       s.question.consumers = {"deepgemm"};
       cuda_home(s, site + "/nvidia/cu13");
     }},
    {"newer_ptxas_with_its_nvlink",
     [](Scene& s) {
       system_toolkit(s, "13.0.88");
       s.root.tool("/usr/local/cuda-13.0/bin/ptxas", "13.2.78");
       s.root.tool("/usr/local/cuda-13.0/bin/nvlink", "13.2.78");
     }},
    {"blackwell_with_a_new_toolkit",
     [](Scene& s) {
       const auto site = venv(s, "vllm", "0.20.0");
       s.root.dist(site, "flashinfer-python", "0.6.12");
       system_toolkit(s, "13.0.88");
       s.root.gpu("NVIDIA GeForce RTX 5090", "580.95.05");
       s.root.environment.set("FLASHINFER_CUDA_ARCH_LIST", "12.0f");
       s.root.environment.set("TORCH_CUDA_ARCH_LIST", "9.0a;12.0+PTX");
     }},
    {"triton_with_its_own_two_ptxas_on_hopper",
     [](Scene& s) {
       const auto site = venv(s, "triton", "3.6.0");
       s.root.tool(site + "/triton/backends/nvidia/bin/ptxas", "12.8.93");
       s.root.tool(site + "/triton/backends/nvidia/bin/ptxas-blackwell", "12.9.86");
       system_toolkit(s, "13.0.88");
       s.root.gpu("NVIDIA H200", "580.159.04");
     }},
};
INSTANTIATE_TEST_SUITE_P(All, HealthyEnvironments, testing::ValuesIn(k_healthy),
                         [](const auto& one) { return std::string(one.param.id); });

TEST(Doctor, a_toolkit_of_another_major_is_an_error_only_where_something_is_built) {
  Scene scene;
  venv(scene, "torchvision", "0.26.0");
  system_toolkit(scene, "12.8.93");
  const auto at_rest = diagnosis_of(scene);
  EXPECT_FALSE(at_rest.has_error()) << told(at_rest);
  ASSERT_FALSE(at_rest.findings.empty());
  EXPECT_EQ(at_rest.findings[0].id, "torch-major-differs");
  for (const auto& found : at_rest.consumers) {
    if (found.consumer == "torch-extensions") {
      EXPECT_EQ(found.verdict, Verdict::unknown) << "to say that it works would be a lie";
    }
  }
  scene.question.consumers = {"torch-extensions"};
  EXPECT_TRUE(diagnosis_of(scene).has_error());
  scene.question.consumers.clear();
  scene.log = "RuntimeError: The detected CUDA version (12.8) mismatches the version that "
              "was used to compile\nPyTorch (13.0).\n";
  EXPECT_TRUE(diagnosis_of(scene).has_error());
}

TEST(Doctor, gpus_without_libcuda_are_a_warning_and_an_unasked_driver_is_none) {
  survey::Snapshot snapshot;
  snapshot.gpus = {{.name = "NVIDIA H200", .target = "sm_90"}};
  snapshot.gpus_found_by = "NVML";
  snapshot.gpus_why = "no NVIDIA driver: libcuda.so.1 was not found";
  const auto told_by_nvml = diagnose(snapshot, {}, knowledge::Knowledge::embedded());
  ASSERT_TRUE(told_by_nvml);
  ASSERT_EQ(told_by_nvml->findings.size(), 1U);
  EXPECT_EQ(told_by_nvml->findings[0].id, "driver-library-missing");
  EXPECT_EQ(told_by_nvml->findings[0].cause, "NVML names 1 GPU, and libcuda.so.1 none");
  EXPECT_FALSE(told_by_nvml->has_error());
  snapshot.gpus_found_by = "/proc";
  snapshot.gpus_why.clear(); // a root folder: nobody was asked
  EXPECT_TRUE(diagnose(snapshot, {}, knowledge::Knowledge::embedded())->findings.empty());
}

TEST(Doctor, says_works_for_each_consumer_of_a_sound_machine) {
  Scene scene;
  venv(scene, "flashinfer-python");
  system_toolkit(scene, "13.0.88");
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_TRUE(diagnosis.findings.empty()) << told(diagnosis);
  std::vector<std::string> working;
  for (const auto& found : diagnosis.consumers) {
    if (found.verdict == Verdict::works) {
      working.push_back(found.consumer);
    }
  }
  EXPECT_THAT(working, testing::ElementsAre("cmake", "flashinfer", "torch-extensions"));
}

} // namespace
} // namespace cukit::doctor
