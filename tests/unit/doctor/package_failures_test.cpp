// The catalogue of real failures, last part: packages, caches, XLA, conda, NVRTC.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

class PackageFailures : public testing::TestWithParam<Case> {};

TEST_P(PackageFailures, first_finding_names_the_cause_and_a_fix) {
  expect_cause(GetParam());
}

/// A local toolkit in PATH and CUDA_HOME.
void local(Scene& scene, const std::string& version) {
  scene.root.toolkit(k_local, version);
  scene.root.prepend_path(k_local + "/bin");
  cuda_home(scene, k_local);
}

// --- torch, the resolver, build isolation
const Case k_packages[] = {
    {"B107", "torch-major-differs", "CUDA_HOME=/usr/local/cuda-13.0",
     [](Scene& s) {
       venv(s, "flash-attn", "2.8.3");
       s.root.toolkit(k_local, "12.8.93");
       s.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
       cuda_home(s, k_local);
       s.log = "The detected CUDA version (12.8) mismatches the version that was used to "
               "compile\nPyTorch (13.0).\n";
     }},
    {"B108", "torch-major-differs", "torch==2.1.0",
     [](Scene& s) {
       venv(s, "", "", "2.0.1+cu117", "11.7");
       local(s, "12.1.105");
     }},
    {"B110", "nvcc-in-pip-build-environment", "--no-build-isolation",
     [](Scene& s) {
       venv(s, "", "", "2.0.1+cu118", "11.8");
       local(s, "11.8.89");
       s.log = "File "
               "\"/tmp/pip-build-env-x2/overlay/lib/python3.11/site-packages/torch/utils/"
               "cpp_extension.py\"\n"
               "The detected CUDA version (11.8) mismatches the version that was used to "
               "compile\nPyTorch (12.1).\n";
     }},
    {"B111", "torch-major-differs", "torch==2.1.0",
     [](Scene& s) {
       venv(s, "deepspeed", "0.9.0", "2.0.1+cu117", "11.7");
       local(s, "12.1.105");
       s.log = "deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op "
               "Builder: Installed CUDA "
               "version 12.1 does not match the version torch was compiled with 11.7\n";
     }},
    {"B114", "torch-major-differs", "cu130",
     [](Scene& s) {
       venv(s, "tensorrt-llm", "1.2.0", "2.9.0+cu128", "12.8");
       local(s, "13.0.88");
     }},
    {"B115", "pins-conflict", "cublas",
     [](Scene& s) {
       const auto site = venv(s);
       s.root.dist(site, "nvidia-cublas", "13.1.0.3");
       s.root.dist(site, "cuda-simpletuner", "1.0", {"nvidia-cublas==13.2.0.9; extra == \"cu13\""});
       s.log = "error: No solution found when resolving dependencies\n";
     }},
    {"B117", "stub-distribution", "pip install nvidia-cusparse",
     [](Scene& s) {
       s.log = "RuntimeError: THIS PROJECT 'nvidia-cusparse-cu13' IS DEPRECATED.\n";
     }},
    {"B118", "nvcc-pinned-away", "constraint",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       s.root.wheels(site, {"13.2.78", "13.2.78", "13.2.78", "13.0.96", "13.2.75"});
       s.root.dist(site, "cuda-tile", "1.3.0", {"nvidia-cuda-nvcc==13.2.78"});
       cuda_home(s, site + "/nvidia/cu13");
     }},
};
INSTANTIATE_TEST_SUITE_P(P10, PackageFailures, testing::ValuesIn(k_packages), name_of);

// --- caches, XLA, conda, NVRTC
void cached(Scene& scene, const char* home, const char* library) {
  const std::string folder = "/home/user/.cache/flashinfer/0.6.12/120f/cached_ops/sampling";
  scene.root.put(folder + "/build.ninja",
                 fmt::format("cuda_home = {}\nnvcc = {}/bin/nvcc\n", home, home));
  scene.root.put(folder + "/sampling.so", test::elf_library("sampling.so", {library}));
}

const Case k_rest[] = {
    {"B119", "cache-stale", "rm -rf /home/user/.cache/flashinfer/0.6.12/120f",
     [](Scene& s) {
       venv(s, "flashinfer-python");
       local(s, "13.0.88");
       s.root.toolkit("/usr/local/cuda-12.9", "12.9.86");
       cached(s, "/usr/local/cuda-12.9", "libcudart.so.13");
     }},
    {"B120", "cache-stale", "rm -rf /home/user/.cache/flashinfer/0.6.12/120f",
     [](Scene& s) {
       venv(s, "flashinfer-python", "0.6.12", "2.9.0+cu129", "12.9");
       local(s, "12.9.86");
       cached(s, "/usr/local/cuda", "libcudart.so.13");
       s.log = "cudaErrorInsufficientDriver (35)\n";
     }},
    {"B122", "companion-differs", "flashinfer-cubin==0.6.12",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       local(s, "13.0.88");
       s.root.dist(site, "flashinfer-cubin", "0.6.9");
     }},
    {"B123", "libdevice-missing", "XLA_FLAGS=--xla_gpu_cuda_data_dir=/apps/cuda/12.4",
     [](Scene& s) {
       venv(s, "jax", "0.4.30", "", "");
       s.root.toolkit("/apps/cuda/12.4", "12.4.131");
       cuda_home(s, "/apps/cuda/12.4");
     }},
    {"B125", "libdevice-missing", "XLA_FLAGS=--xla_gpu_cuda_data_dir=/apps/cuda/12.4",
     [](Scene& s) {
       venv(s, "tensorflow", "2.13.0", "", "");
       s.root.toolkit("/apps/cuda/12.4", "12.4.131");
       cuda_home(s, "/apps/cuda/12.4");
       s.log = "libdevice not found at ./libdevice.10.bc\n";
     }},
    {"B126", "conda-versions-drift", "conda install cuda-version=12.5",
     [](Scene& s) {
       s.root.put("/opt/conda/conda-meta/cuda-version-12.5-hd4f0392_3.json", "{}");
       s.root.put("/opt/conda/conda-meta/nvcc_linux-64-11.8-h41f3f69_22.json", "{}");
       s.root.environment.set("CONDA_PREFIX", "/opt/conda");
     }},
    {"B128", "ccbin-empty", "unset NVCC_PREPEND_FLAGS",
     [](Scene& s) {
       local(s, "12.0.140");
       s.root.environment.set("NVCC_PREPEND_FLAGS", "-ccbin=");
     }},
    {"B130", "conda-not-activated", "conda activate /opt/conda/envs/cupy",
     [](Scene& s) {
       s.root.put("/opt/conda/envs/cupy/conda-meta/cupy-13.6.0-py311.json", "{}");
       s.root.put("/opt/conda/envs/cupy/conda-meta/cuda-nvrtc-12.9.86-0.json", "{}");
       s.root.put("/opt/conda/envs/cupy/bin/python3", "#!/bin/sh\n", 0755);
       s.root.prepend_path("/opt/conda/envs/cupy/bin");
     }},
    {"B131", "nvrtc-headers-differ", "nvidia-cuda-runtime-cu12==12.9.*",
     [](Scene& s) {
       const auto site = venv(s, "cupy-cuda12x", "14.0.0", "", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9", "");
       s.root.toolkit(k_local, "12.4.131");
       s.log = "error: incomplete type \"__nv_fp8_e8m0\" is not allowed\n";
     }},
    {"B132", "nvrtc-headers-differ", "nvidia-cuda-runtime-cu12==12.9.*",
     [](Scene& s) {
       const auto site = venv(s, "cupy-cuda12x", "13.0.0", "", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9", "");
       s.root.toolkit(k_local, "12.0.140");
     }},
    {"B135", "nvrtc-builtins-missing", "nvidia-cuda-nvrtc",
     [](Scene& s) {
       const auto site = venv(s, "cupy-cuda13x", "14.0.0", "", "");
       s.root.wheels(site, {"", "", "", "13.0.96", ""});
       s.root.put(site + "/nvidia/cu13/lib/libnvrtc.so.13", "");
       s.log = "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n";
     }},
};
INSTANTIATE_TEST_SUITE_P(P11_to_P14, PackageFailures, testing::ValuesIn(k_rest), name_of);

} // namespace
} // namespace cukit::doctor
