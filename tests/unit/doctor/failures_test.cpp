// The catalogue of real failures, one row each: the first finding names the cause and a fix that
// worked. Reference of a row: the issue or pull request it was reported in.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

class Failures : public testing::TestWithParam<Case> {};

TEST_P(Failures, first_finding_names_the_cause_and_a_fix) {
  expect_cause(GetParam());
}

// --- compiler and headers drift
const Case k_drift[] = {
    {"B01", "headers-differ", "cuda-toolkit[nvcc,crt,nvvm,cccl]==13.0",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       s.root.wheels(site, {"13.3.33", "13.3.33", "13.3.33", "13.0.96", "13.3.30"});
       s.root.toolkit(k_local, "12.8.93");
       cuda_home(s, site + "/nvidia/cu13");
       gpu(s, "sm_120");
     }},
    {"B02", "headers-differ", "cuda-toolkit[nvcc,crt,nvvm,cccl]==13.0",
     [](Scene& s) {
       const auto site = venv(s, "vllm", "0.20.0");
       s.root.wheels(site, {"13.3.33", "13.3.33", "13.3.33", "13.0.96", "13.3.30"});
       cuda_home(s, site + "/nvidia/cu13");
       s.root.prepend_path(site + "/nvidia/cu13/bin");
     }},
    {"B02_unset", "toolkit-not-found", "CUDA_HOME=/venv/lib/python3.11/site-packages/nvidia/cu13",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       s.root.wheels(site, {"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
       s.log = "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' "
               "doesn't exist\n";
     }},
    {"B03", "cicc-differs", "cuda-toolkit[nvcc,crt,nvvm,cccl]==13.0",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       s.root.wheels(site, {"13.0.88", "13.3.33", "13.0.88", "13.0.96", "13.0.85"});
       cuda_home(s, site + "/nvidia/cu13");
       s.log = "ptxas /tmp/x.ptx, line 9; fatal   : Unsupported .version 9.3; current "
               "version is '9.0'\n";
     }},
    {"B03_crt", "crt-differs", "cuda-toolkit[nvcc,crt,nvvm,cccl]==13.0",
     [](Scene& s) {
       const auto site = venv(s, "flashinfer-python");
       s.root.wheels(site, {"13.0.88", "13.0.88", "13.3.33", "13.0.96", "13.0.85"});
       cuda_home(s, site + "/nvidia/cu13");
       s.log = "x.cu:1: error: '__cudaLaunch' was not declared in this scope\n";
     }},
    {"B04", "foreign-include-path", "remove -I/usr/local/cuda/include",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.toolkit("/opt/cuda-13.2", "13.2.78");
       s.root.prepend_path("/opt/cuda-13.2/bin");
       s.log = "nvcc -c k.cu\n/opt/cuda-13.2/bin/nvcc --gpu-architecture=sm_89 "
               "-I/usr/local/cuda/include -c k.cu\n"
               "x.h(44): error: #error \"CUDA compiler and CUDA toolkit headers are "
               "incompatible, please check "
               "your include paths\"\n";
     }},
    {"B05", "foreign-include-path",
     "remove -I/venv/lib/python3.11/site-packages/nvidia/cu13/include",
     [](Scene& s) {
       const auto site = venv(s);
       s.root.wheels(site, {"", "", "13.0.48", "13.0.96", ""});
       s.root.toolkit(k_local, "13.2.78");
       cuda_home(s, k_local);
       s.log = "/usr/local/cuda/bin/nvcc -I/usr/local/cuda/include -I" + site +
               "/nvidia/cu13/include -c a.cu\n"
               "a.cu:3:1: error: macro \"__cudaLaunch\" passed 1 arguments, but takes just 2\n"
               "a.cu:3:1: error: macro \"__cudaLaunch\" requires 2 arguments, but only 1 given\n";
     }},
    {"B08", "host-scan-of-cuda-source", "CCCL_DISABLE_CTK_COMPATIBILITY_CHECK",
     [](Scene& s) {
       s.log = "cuda_toolkit.h(41): fatal error C1189: #error: \"CUDA compiler and CUDA "
               "toolkit headers are "
               "incompatible, please check your include paths\"\n";
     }},
    {"B08_flags", "flags-reach-another-toolkit", "unset NVCC_PREPEND_FLAGS",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.toolkit("/opt/cuda-13.2", "13.2.78");
       s.root.prepend_path(k_local + "/bin");
       s.root.environment.set("NVCC_PREPEND_FLAGS", "-I/opt/cuda-13.2/include");
     }},
    {"B09", "foreign-include-path",
     "remove -I/venv/lib/python3.11/site-packages/triton/backends/nvidia/include",
     [](Scene& s) {
       const auto site = venv(s, "triton", "3.6.0");
       s.root.crt(site + "/triton/backends/nvidia/include", "12.8");
       s.root.toolkit(k_local, "13.0.88");
       cuda_home(s, k_local);
       s.log = "/usr/local/cuda/bin/nvcc -I" + site +
               "/triton/backends/nvidia/include -c a.cu\n"
               "error: macro \"__cudaLaunch\" passed 2 arguments, but takes just 1\n";
     }},
    {"B10", "two-toolkits", "CUDA_HOME=/opt/conda/envs/build",
     [](Scene& s) {
       s.root.toolkit("/opt/conda/envs/build", "13.0.88");
       s.root.put("/opt/conda/envs/build/conda-meta/cuda-nvcc-13.0.88-0.json", "{}");
       s.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
       s.root.prepend_path("/usr/local/cuda-12.8/bin");
       s.root.environment.set("CONDA_PREFIX", "/opt/conda/envs/build");
     }},
    {"B11", "cccl-mixed", "CCCL of one release",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       s.root.put(k_local + "/lib/cmake/thrust/thrust-config-version.cmake",
                  "set(THRUST_VERSION_MAJOR 3)\nset(THRUST_VERSION_MINOR "
                  "0)\nset(THRUST_VERSION_PATCH 1)\n");
       s.root.put(k_local + "/lib/cmake/cub/cub-config-version.cmake",
                  "set(CUB_VERSION_MAJOR 3)\nset(CUB_VERSION_MINOR 0)\nset(CUB_VERSION_PATCH 0)\n");
       s.log = "The version of CUB found by CMake is not compatible with this release of Thrust.\n";
     }},
    {"B13", "cccl-mixed", "CCCL of one release",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       s.root.put(k_local + "/include/nv/target", "// of another release\n");
     }},
    {"B14", "cccl-too-old-for-code", "CCCL on -I",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       s.log = "include/flashinfer/fastdiv.cuh(39): error: qualified name is not "
               "allowed\n    cuda::fast_mod_div d;\n";
     }},
    {"B15", "two-toolkits", "CUDA_HOME=/opt/cuda-13.0",
     [](Scene& s) {
       s.root.toolkit("/opt/cuda-13.0", "13.0.88");
       s.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
       s.root.prepend_path("/usr/local/cuda-12.8/bin");
       cuda_home(s, "/opt/cuda-13.0");
       s.log = "FindCUDA says CUDA version is 12.8 (usually determined by nvcc), but the "
               "CUDA headers say the "
               "version is 13.0.\n";
     }},
    {"B17", "cccl-mixed", "one CCCL",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       s.log = "/x/thrust/detail/config.h(12): error: redefinition of THRUST_VERSION\n";
     }},
    {"B18", "cccl-mixed", "one CCCL",
     [](Scene& s) {
       s.root.toolkit("/usr/lib/nvidia-cuda-toolkit", "12.0.140");
       s.root.put("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n",
                  0755);
       s.log = "error: class \"cub::_V_300302_SM_890::BlockAdjacentDifference<int, 128>\" "
               "has no member \"x\"\n";
     }},
};
INSTANTIATE_TEST_SUITE_P(P1, Failures, testing::ValuesIn(k_drift), name_of);

// --- nvcc too old for the GPU, or an older one first
constexpr const char* k_sm75 = "RuntimeError: FlashInfer requires GPUs with sm75 or higher\n";

const Case k_too_old[] = {
    {"B20", "nvcc-too-old", "cukit up",
     [](Scene& s) {
       venv(s, "flashinfer-python", "0.6.12", "2.9.0+cu128", "12.8");
       s.root.toolkit(k_local, "12.8.93");
       cuda_home(s, k_local);
       gpu(s, "sm_120");
       s.log = k_sm75;
     }},
    {"B21", "nvcc-too-old", "CUDA 12.9",
     [](Scene& s) {
       venv(s, "flashinfer-python", "0.6.12", "2.9.0+cu128", "12.8");
       s.root.toolkit(k_local, "12.8.93");
       s.root.gpu("NVIDIA GeForce RTX 5090", "570.86.10");
       s.log = k_sm75;
     }},
    {"B22", "nvcc-too-old", "cukit up",
     [](Scene& s) {
       venv(s, "flashinfer-python");
       s.root.toolkit(k_local, "12.8.93");
       gpu(s, "sm_120");
     }},
    {"B24", "nvcc-too-old", "CUDA 12.9",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.8.93");
       s.root.prepend_path(k_local + "/bin");
       s.log = "nvcc fatal   : Unsupported gpu architecture 'sm_100f'\n";
     }},
    {"B26", "nvcc-too-old", "CUDA 12.8",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.4.131");
       s.root.prepend_path(k_local + "/bin");
       s.log = "nvcc fatal   : Unsupported gpu architecture 'compute_120'\n";
     }},
    {"B27", "older-toolkit-first", "PATH=/usr/local/cuda-13.0/bin:\"$PATH\"",
     [](Scene& s) {
       s.root.toolkit("/usr/lib/nvidia-cuda-toolkit", "12.0.140");
       s.root.put("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n",
                  0755);
       s.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
       s.root.environment.set("PATH", "/usr/bin:/bin:/usr/local/cuda-13.0/bin");
       s.log = "nvcc fatal   : Unsupported gpu architecture 'compute_120a'\n";
     }},
    {"B28", "older-toolkit-first", "CUDACXX=/usr/local/cuda-12/bin/nvcc",
     [](Scene& s) {
       s.root.toolkit("/usr/lib/nvidia-cuda-toolkit", "9.1.85");
       s.root.put("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n",
                  0755);
       s.root.toolkit("/usr/local/cuda-12", "12.4.131");
       gpu(s, "sm_86");
     }},
    {"B29", "nvcc-too-old", "cukit up",
     [](Scene& s) {
       s.root.toolkit(k_local, "11.8.89");
       s.root.prepend_path(k_local + "/bin");
       gpu(s, "sm_120");
     }},
    {"B30", "older-toolkit-first", "CUDA_HOME=/opt/cuda-12.9",
     [](Scene& s) {
       venv(s, "flashinfer-python", "0.2.8", "2.8.0+cu129", "12.9");
       s.root.toolkit(k_local, "12.0.140");
       s.root.toolkit("/opt/cuda-12.9", "12.9.86");
       gpu(s, "sm_120");
       s.log = "nvcc fatal   : Unsupported gpu architecture 'compute_120a'\n";
     }},
    {"B32", "variable-wrong-folder", "CUDA_HOME=/usr/local/cuda",
     [](Scene& s) {
       venv(s, "", "", "1.9.0+cu111", "11.1");
       s.root.toolkit("/usr/local/cuda-11.1", "11.1.105");
       s.root.link("/usr/local/cuda", "cuda-11.1");
       cuda_home(s, "/usr/local/cuda-11.0");
       s.log = "error: [Errno 2] No such file or directory: '/usr/local/cuda-11.0/bin/nvcc'\n";
     }},
    {"B32_colon", "variable-malformed", "export CUDA_HOME=/usr/local/cuda-11.0",
     [](Scene& s) {
       venv(s);
       cuda_home(s, "/usr/local/cuda-11.0:/usr/bin:/bin");
     }},
    {"B32_bin", "variable-malformed", "export CUDA_HOME=/usr/local/cuda",
     [](Scene& s) {
       venv(s);
       s.root.toolkit(k_local, "12.4.131");
       cuda_home(s, "/usr/local/cuda/bin");
     }},
};
INSTANTIATE_TEST_SUITE_P(P2, Failures, testing::ValuesIn(k_too_old), name_of);

// --- nvcc not found
const Case k_not_found[] = {
    {"B33", "no-nvcc", "flashinfer-cubin flashinfer-jit-cache",
     [](Scene& s) {
       const auto site = venv(s, "vllm", "0.20.0");
       s.root.dist(site, "flashinfer-python", "0.6.12");
     }},
    {"B36", "no-nvcc", "cukit up",
     [](Scene& s) {
       venv(s, "flashinfer-python");
       s.log = "FileNotFoundError: [Errno 2] No such file or directory: 'nvcc'\n";
     }},
    {"B38", "nvcc-not-in-path", "export PATH=/usr/local/cuda/bin:\"$PATH\"",
     [](Scene& s) {
       venv(s, "vllm", "0.20.0");
       s.root.toolkit(k_local, "13.0.88");
       cuda_home(s, k_local);
     }},
    {"B39", "no-nvcc", "flashinfer-cubin flashinfer-jit-cache",
     [](Scene& s) {
       venv(s, "flashinfer-python");
       s.log = "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' "
               "doesn't exist\n";
     }},
    {"B40", "no-nvcc", "cukit up",
     [](Scene& s) {
       venv(s, "deep-gemm", "2.1.0");
       s.log = "    assert cuda_home is not None\nAssertionError\n";
     }},
    {"B41", "library-not-found",
     "LD_LIBRARY_PATH=/venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib",
     [](Scene& s) {
       const auto site = venv(s, "", "", "2.5.1+cu124", "12.4");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.4", "");
       s.log = "ImportError: libnvrtc.so.12: cannot open shared object file: No such file "
               "or directory\n";
     }},
    {"B42", "toolkit-not-found", "CUDA_HOME=/venv/lib/python3.11/site-packages/nvidia/cu13",
     [](Scene& s) {
       const auto site = venv(s);
       s.root.wheels(site, {"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
     }},
    {"B43", "variable-malformed", "export CUDA_HOME=/usr/local/cuda-12.8",
     [](Scene& s) {
       venv(s, "flashinfer-python", "0.6.1", "2.10.0+cu128", "12.8");
       s.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
       cuda_home(s, ":/usr/local/cuda-12.8");
       s.log = "/bin/sh: 1: :/usr/local/cuda-12.8/bin/nvcc: not found\n";
     }},
    {"B45", "variable-malformed", "export CUDA_HOME=/usr/local/cuda",
     [](Scene& s) {
       venv(s);
       cuda_home(s, "\"/usr/local/cuda\"");
     }},
    {"B46", "variable-wrong-folder", "CUDA_HOME=/usr/local/cuda",
     [](Scene& s) {
       venv(s);
       s.root.toolkit(k_local, "13.0.88");
       cuda_home(s, "/usr");
       s.log = "/bin/sh: 1: /usr/bin/nvcc: not found\n";
     }},
    {"B47", "toolkit-not-found", "CUDA_HOME=/usr/local/cuda-12.8",
     [](Scene& s) {
       venv(s, "flashinfer-python", "0.6.1", "2.10.0+cu128", "12.8");
       s.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
     }},
};
INSTANTIATE_TEST_SUITE_P(P3, Failures, testing::ValuesIn(k_not_found), name_of);

} // namespace
} // namespace cukit::doctor
