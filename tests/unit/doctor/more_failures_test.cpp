// The catalogue of real failures, second half: layout, missing parts, run time, packages, caches.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

class MoreFailures : public testing::TestWithParam<Case> {};

TEST_P(MoreFailures, first_finding_names_the_cause_and_a_fix) {
  expect_cause(GetParam());
}

/// A local toolkit in PATH and CUDA_HOME.
void local(Scene& scene, const std::string& version) {
  scene.root.toolkit(k_local, version);
  scene.root.prepend_path(k_local + "/bin");
  cuda_home(scene, k_local);
}

/// The compiler's wheels of 13.0, sound but for what wheels lack.
std::string sound_wheels(Scene& scene, const std::string& consumer) {
  auto site = venv(scene, consumer);
  scene.root.wheels(site, {"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
  cuda_home(scene, site + "/nvidia/cu13");
  return site;
}

const std::string k_cu13 = "/venv/lib/python3.11/site-packages/nvidia/cu13";

// --- layout
const Case k_layout[] = {
    {"B49", "library-folder-missing",
     "ln -s lib /venv/lib/python3.11/site-packages/nvidia/cu13/lib64",
     [](Scene& s) {
       sound_wheels(s, "flashinfer-python");
       s.log = "/usr/bin/ld: cannot find -lcudart: No such file or directory\n";
     }},
    {"B50", "library-folder-missing", "/lib64",
     [](Scene& s) {
       venv(s, "flashinfer-python", "0.2.5", "2.7.0+cu126", "12.6");
       local(s, "12.6.85");
       s.root.remove(k_local + "/lib64");
     }},
    {"B51", "library-name-missing", "ln -s libnvrtc.so.13",
     [](Scene& s) {
       local(s, "13.0.88");
       s.root.remove(k_local + "/lib/libnvrtc.so");
       s.log = "/usr/bin/ld: cannot find -lnvrtc: No such file or directory\n";
     }},
    {"B52", "library-folder-missing", "ln -s lib",
     [](Scene& s) {
       s.root.toolkit("/opt/conda/envs/ds", "12.4.131");
       s.root.put("/opt/conda/envs/ds/conda-meta/cuda-nvcc-12.4.131-0.json", "{}");
       s.root.remove("/opt/conda/envs/ds/lib64");
       s.root.environment.set("CONDA_PREFIX", "/opt/conda/envs/ds");
       cuda_home(s, "/opt/conda/envs/ds");
       s.root.prepend_path("/opt/conda/envs/ds/bin");
       s.log = "/usr/bin/ld: cannot find -lcudart\n";
     }},
    {"B54", "nvcc-linked-alone", "CUDA_HOME=/opt/conda/targets",
     [](Scene& s) {
       s.root.toolkit("/opt/conda/targets", "12.9.86");
       s.root.link("/opt/build/bin/nvcc", "/opt/conda/targets/bin/nvcc");
       s.root.prepend_path("/opt/build/bin");
       s.log = "fatal error: cuda_runtime.h: No such file or directory\n";
     }},
    {"B56", "cccl-moved", "/usr/local/cuda/include/cccl",
     [](Scene& s) {
       local(s, "13.0.88");
       s.log = "csrc/api.cpp:4:10: fatal error: nv/target: No such file or directory\n";
     }},
    {"B57", "cccl-moved", "/usr/local/cuda/include/cccl",
     [](Scene& s) {
       local(s, "13.0.88");
       s.log =
           "csrc/jit/handle.hpp:9:10: fatal error: cuda/std/cstdint: No such file or directory\n";
     }},
    {"B58", "cccl-moved", "/usr/local/cuda/include/cccl",
     [](Scene& s) {
       local(s, "13.0.88");
       s.log = "core.cc:1:10: fatal error: cuda/std/utility: No such file or directory\n";
     }},
    {"B59", "cccl-moved", "/usr/local/cuda/include/cccl",
     [](Scene& s) {
       local(s, "13.0.88");
       s.log = "kernel.cc:1:10: fatal error: cub/cub.cuh: No such file or directory\n";
     }},
};
INSTANTIATE_TEST_SUITE_P(P4, MoreFailures, testing::ValuesIn(k_layout), name_of);

// --- parts that are missing
const Case k_missing[] = {
    {"B62", "tool-missing", "cuda-cuobjdump-13-0",
     [](Scene& s) {
       venv(s, "deep-gemm", "2.1.0");
       local(s, "13.0.88");
       s.root.remove(k_local + "/bin/cuobjdump");
       s.log = "Assertion error (csrc/jit/kernel_runtime.hpp:41): exit_code == 0\n";
     }},
    {"B64", "cccl-missing", "cuda-cccl-12-4",
     [](Scene& s) {
       local(s, "12.4.131");
       s.root.remove(k_local + "/include/nv");
       s.log = "cuda_fp16.hpp:67:10: fatal error: nv/target: No such file or directory\n";
     }},
    {"B65", "cccl-missing", "cuda-cccl-13-0",
     [](Scene& s) {
       local(s, "13.0.88");
       s.root.remove(k_local + "/include/nv");
       s.root.remove(k_local + "/include/cccl");
     }},
    {"B66", "headers-missing", "nvidia-cuda-runtime-cu12==12.4.*",
     [](Scene& s) {
       const auto site = venv(s, "cupy-cuda12x", "13.3.0", "", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.4", "");
       s.log = "catastrophic error: cannot open source file \"vector_types.h\"\n";
     }},
    {"B68", "headers-missing", "apt-get install cuda-cudart-dev-12-4",
     [](Scene& s) {
       local(s, "12.4.131");
       s.root.remove(k_local + "/include");
       s.log = "fatal error: vector_types.h: No such file or directory\n";
     }},
    {"B70", "crt-missing", "one tree",
     [](Scene& s) {
       local(s, "12.2.140");
       s.root.remove(k_local + "/include/crt");
       s.log = "fatal error: crt/host_defines.h: No such file or directory\n";
     }},
    {"B71", "torch-major-differs", "cu130",
     [](Scene& s) {
       venv(s, "", "", "2.12.0.dev20260101+cu128", "12.8");
       local(s, "13.0.88");
       s.log = "RuntimeError: The detected CUDA version (13.0) mismatches the version "
               "that was used to compile "
               "PyTorch (12.8).\n";
     }},
    {"B71_second", "math-headers-missing", "full toolkit",
     [](Scene& s) {
       venv(s, "", "", "2.12.0.dev20260101+cu128", "12.8");
       local(s, "12.8.93");
       s.root.remove(k_local + "/include/cusparse.h");
       s.log = "ATen/cuda/CUDAContextLight.h:7:10: fatal error: cusparse.h: No such file "
               "or directory\n";
     }},
};
INSTANTIATE_TEST_SUITE_P(P5, MoreFailures, testing::ValuesIn(k_missing), name_of);

/// Triton with two ptxas of its own.
void triton(Scene& scene, const std::string& version) {
  const auto site = venv(scene, "triton", "3.6.0");
  scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas", version);
  scene.root.tool(site + "/triton/backends/nvidia/bin/ptxas-blackwell", version);
}

const Case k_ptxas[] = {
    {"B72", "ptxas-too-old", "TRITON_PTXAS_BLACKWELL_PATH=/usr/local/cuda-13.0/bin/ptxas",
     [](Scene& s) {
       triton(s, "12.8.93");
       s.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
       s.root.gpu("NVIDIA GB10", "580.95.05");
       s.log = "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'\n";
     }},
    {"B75", "triton-variable", "export TRITON_PTXAS_BLACKWELL_PATH=/usr/local/cuda-13.0/bin/ptxas",
     [](Scene& s) {
       triton(s, "12.9.86");
       s.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
       s.root.environment.set("TRITON_PTXAS_PATH", "/usr/local/cuda-13.0/bin/ptxas");
       s.log = "ptxas-blackwell fatal : Value 'sm_110a' is not defined for option 'gpu-name'\n";
     }},
    {"B76", "ptxas-too-old", "cukit up",
     [](Scene& s) {
       triton(s, "12.6.85");
       s.log =
           "`ptxas` stderr: ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'\n";
     }},
    {"B77", "cicc-differs", "cukit up",
     [](Scene& s) {
       s.log = "ptxas C:\\x.ptx, line 9; fatal   : Unsupported .version 8.8; current "
               "version is '8.7'\n";
     }},
    {"B78", "cicc-differs", "conda install cuda-version=",
     [](Scene& s) {
       s.root.toolkit("/opt/conda", "11.6.124");
       s.root.tool("/opt/conda/nvvm/bin/cicc", "11.7.64");
       s.root.put("/opt/conda/conda-meta/cudatoolkit-dev-11.6.0-0.json", "{}");
       s.root.environment.set("CONDA_PREFIX", "/opt/conda");
       s.root.prepend_path("/opt/conda/bin");
       s.log = "ptxas /tmp/x.ptx, line 9; fatal   : Unsupported .version 7.7; current "
               "version is '7.6'\n";
     }},
    {"B79", "ptxas-too-old", "PATH=/opt/cuda-12.4/bin",
     [](Scene& s) {
       s.root.tool("/usr/bin/ptxas", "11.5.119");
       s.root.tool("/opt/cuda-12.4/bin/ptxas", "12.4.131");
       gpu(s, "sm_89");
     }},
};
INSTANTIATE_TEST_SUITE_P(P6, MoreFailures, testing::ValuesIn(k_ptxas), name_of);

/// torch's wheels of CUDA 12 with nvJitLink, and an empty library of that name before it.
void shadowed(Scene& scene, const char* minor) {
  const auto site = venv(scene, "nvidia-nvjitlink-cu12", std::string(minor) + ".99",
                         std::string("2.5.1+cu") + "124", "12.4");
  scene.root.put(site + "/nvidia/nvjitlink/lib/libnvJitLink.so.12", "");
  scene.root.put("/usr/local/cuda-12.1/lib64/libnvJitLink.so.12",
                 test::elf_library("libnvJitLink.so.12", {}));
  scene.root.environment.set("LD_LIBRARY_PATH", "/usr/local/cuda-12.1/lib64");
}

const Case k_run_time[] = {
    {"B81", "library-path-shadows", "unset LD_LIBRARY_PATH",
     [](Scene& s) {
       shadowed(s, "12.4");
       s.log =
           "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version "
           "libnvJitLink.so.12\n";
     }},
    {"B82", "library-path-shadows", "nvidia/nvjitlink/lib",
     [](Scene& s) {
       shadowed(s, "12.1");
       s.log = "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1\n";
     }},
    {"B83", "library-path-shadows", "unset LD_LIBRARY_PATH", [](Scene& s) { shadowed(s, "12.8"); }},
    {"B86", "extension-cuda-differs", "--force-reinstall vllm",
     [](Scene& s) {
       const auto site = venv(s, "vllm", "0.20.0", "2.11.0+cu126", "12.6");
       s.root.put(site + "/vllm/_C.abi3.so",
                  test::elf_library("_C.abi3.so", {"libcudart.so.13", "libc.so.6"}));
       s.root.put(site + "/vllm-0.20.0.dist-info/RECORD",
                  "vllm/_C.abi3.so,sha256=x,10\nvllm/__init__.py,sha256=x,1\n");
       s.log = "ImportError: libcudart.so.13: cannot open shared object file: No such "
               "file or directory\n";
     }},
    {"B89", "library-not-found", "LD_LIBRARY_PATH=/venv",
     [](Scene& s) {
       const auto site = venv(s, "sglang", "0.5.2", "2.8.0+cu128", "12.8");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
       s.root.put(site + "/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.8", "");
       s.root.toolkit(k_local, "11.8.89");
       cuda_home(s, k_local);
       s.log = "ImportError: libnvrtc.so.12: cannot open shared object file: No such file "
               "or directory\n";
     }},
    {"B90", "library-not-found", "CUDA 12",
     [](Scene& s) {
       venv(s, "sglang", "0.5.2");
       local(s, "13.0.88");
       s.log = "ImportError: libnvrtc.so.12: cannot open shared object file: No such file "
               "or directory\n";
     }},
    {"B91", "library-path-shadows", "unset LD_LIBRARY_PATH",
     [](Scene& s) {
       shadowed(s, "12.8");
       s.log = "undefined symbol: nvJitLinkVersion\n";
     }},
    {"B92", "two-cuda-families", "cu130",
     [](Scene& s) {
       const auto site = venv(s, "cuda-tile", "1.0.0", "2.9.0+cu128", "12.8");
       s.root.dist(site, "nvidia-cuda-nvcc", "13.0.88");
       s.root.dist(site, "nvidia-cuda-nvcc-cu12", "12.8.93");
       s.log = "cuda.tile.TileError: failed to compile Tile IR program\n";
     }},
    {"B93", "wheel-files-overwritten", "--force-reinstall",
     [](Scene& s) {
       const auto site = venv(s);
       for (const auto& [name, size] : {std::pair{"nixl-cu12", 11}, std::pair{"nixl-cu13", 12}}) {
         s.root.dist(site, name, "1.0.0");
         std::string folder(name);
         folder[4] = '_';
         s.root.put(site + "/" + folder + "-1.0.0.dist-info/RECORD",
                    fmt::format("nixl/_bindings.so,sha256=x,{}\n", size));
       }
       s.root.put(site + "/nixl/_bindings.so", "eleven byte");
       s.log = "ImportError: libcudart.so.12: cannot open shared object file: No such "
               "file or directory\n";
     }},
    {"B95", "extension-cuda-differs", "built for this CUDA",
     [](Scene& s) {
       venv(s, "flash-attn", "2.4.2", "2.1.2+cu121", "12.1");
       s.log = "ImportError: libcudart.so.11.0: cannot open shared object file: No such "
               "file or directory\n";
     }},
};
INSTANTIATE_TEST_SUITE_P(P7, MoreFailures, testing::ValuesIn(k_run_time), name_of);

// --- the driver
void driver(Scene& scene, const char* version) {
  scene.question.driver = Version::parse(version).value();
}

const Case k_driver[] = {
    {"B96", "driver-older-than-ptx", "SASS",
     [](Scene& s) {
       local(s, "13.2.78");
       driver(s, "580.82.07");
       s.log =
           "CUDA Runtime API error: the provided PTX was compiled with an unsupported toolchain.\n";
     }},
    {"B99", "driver-older-than-ptx", "12.4",
     [](Scene& s) {
       local(s, "12.5.82");
       driver(s, "550.54.15");
       s.log = "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.5; "
               "current version is '8.4'\n";
     }},
    {"B100", "driver-older-than-ptx", "driver",
     [](Scene& s) {
       local(s, "12.5.82");
       driver(s, "535.183.01");
       s.log = "Error: DriverError(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ...)\n";
     }},
    {"B101", "driver-older-than-ptx", "driver of branch",
     [](Scene& s) {
       local(s, "12.8.93");
       driver(s, "525.60.13");
     }},
    {"B102", "driver-too-old", "cuda-python 12",
     [](Scene& s) {
       const auto site = venv(s, "cuda-python", "13.0.1", "2.9.0+cu128", "12.8");
       s.root.dist(site, "cuda-bindings", "13.0.1");
       driver(s, "570.86.10");
       s.log = "cudaErrorInsufficientDriver: 35\n";
     }},
};
INSTANTIATE_TEST_SUITE_P(P8, MoreFailures, testing::ValuesIn(k_driver), name_of);

// --- host compiler and C library
const Case k_host[] = {
    {"B103", "glibc-too-new", "CUDA 13.0",
     [](Scene& s) {
       local(s, "12.8.93");
       s.root.put("/usr/include/x86_64-linux-gnu/bits/mathcalls.h",
                  "__MATHCALL_VEC (cospi,, (_Mdouble_ __x));\n");
       s.log = "math_functions.h(2556): error: exception specification is incompatible "
               "with that of previous "
               "function \"cospi\"\n";
     }},
    {"B105", "glibc-too-new", "cukit up",
     [](Scene& s) {
       local(s, "13.0.88");
       s.root.put("/lib/x86_64-linux-gnu/libc.so.6",
                  "GNU C Library (Nix 2.42) stable release version 2.42.\n");
     }},
    {"B106", "host-compiler-too-new", "g++-12",
     [](Scene& s) {
       local(s, "12.1.105");
       s.root.gxx("15.1.0");
       s.log = "crt/host_config.h:143:2: error: #error -- unsupported GNU version! gcc "
               "versions later than 12 are "
               "not supported!\n";
     }},
};
INSTANTIATE_TEST_SUITE_P(P9, MoreFailures, testing::ValuesIn(k_host), name_of);

} // namespace
} // namespace cukit::doctor
