// Reports of failures: an environment, what the build printed in it, and the cause. Each stands for
// a kind; the names in it are nobody's.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

using testing::HasSubstr;

void debian_nvcc(Scene& s, const std::string& version) {
  s.root.toolkit("/usr/lib/nvidia-cuda-toolkit", version);
  s.root.link("/usr/bin/nvcc", "/usr/lib/nvidia-cuda-toolkit/bin/nvcc");
}

const Case k_reports[] = {
    {"one_build_with_two_toolkits", "build-mixes-toolkits", "/usr/local/cuda/bin",
     [](Scene& s) {
       debian_nvcc(s, "11.8.89");
       s.root.toolkit(k_local, "12.6.77");
       gpu(s, "sm_86");
       s.log = "-- Found CUDAToolkit: /usr/local/cuda/include (found version \"12.6.77\")\n"
               "-- The CUDA compiler identification is NVIDIA 11.8.89\n"
               "[  9%] Building CUDA object CMakeFiles/zorp.dir/k.cu.o\n"
               "nvcc fatal   : Unknown option '-zorp-mode=size'\n"
               "gmake[2]: *** [CMakeFiles/zorp.dir/build.make:92: k.cu.o] Error 1\n";
     }},
    {"host_compile_with_headers_of_another_toolkit", "foreign-include-path", "/opt/zorp/cuda-11.6",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.4.131");
       s.root.toolkit("/opt/zorp/cuda-11.6", "11.6.124");
       s.root.prepend_path(k_local + "/bin");
       gpu(s, "sm_80");
       s.log =
           "[1/9] sccache c++ -I../q -isystem /opt/zorp/cuda-11.6/include -c ../q/quux.cc -o q.o\n"
           "[2/9] nvcc -std=c++17 -c ../q/k.cu -o k.o\nFAILED: q.o\n"
           "../q/quux.cc:52:3: error: 'zorpConfig_t' was not declared in this scope\n"
           "ninja: build stopped: subcommand failed.\n";
     }},
    {"header_is_here_and_not_searched", "header-not-searched", "/apps/zorp/9.1/include",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.4.131");
       s.root.put("/apps/zorp/9.1/include/cudnn.h", "#pragma once\n");
       s.root.environment.set("ZORP_ROOT", "/apps/zorp/9.1");
       venv(s);
       s.log = "FAILED: /tmp/b/common.o\n"
               "g++ -I/venv/include -I/usr/local/cuda/include -c /tmp/b/common.cpp -o common.o\n"
               "/venv/x/cudnn-wrapper.h:3:10: fatal error: cudnn.h: No such file or directory\n"
               "ninja: build stopped: subcommand failed.\n";
     }},
    {"list_that_torch_does_not_know", "target-list-not-served", "export TORCH_CUDA_ARCH_LIST=8.6",
     [](Scene& s) {
       s.root.toolkit(k_local, "11.8.89");
       venv(s, {}, {}, "1.13.0", "11.7");
       s.root.environment.set("TORCH_CUDA_ARCH_LIST", "6.1 8.6 8.9+PTX");
       gpu(s, "sm_86");
       s.log = "  File \"/venv/torch/utils/cpp_extension.py\", line 1773, in _flags\n"
               "    raise ValueError(f\"Unknown CUDA arch ({arch}) or GPU not supported\")\n"
               "ValueError: Unknown CUDA arch (8.9+PTX) or GPU not supported\n";
     }},
    {"list_that_nvcc_no_longer_has", "target-list-not-served", "-DZORP_CUDA_ARCHS=90",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       gpu(s, "sm_90");
       s.log = "cmake -DZORP_CUDA_ARCHS=\"60;90\" ..\n"
               "[1/2] nvcc --generate-code=arch=compute_60,code=[sm_60] -c k.cu -o k.o\n"
               "nvcc fatal   : Unsupported gpu architecture 'compute_60'\n";
     }},
    {"compiler_was_killed", "compiler-killed", "MAX_JOBS=",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.8.93");
       venv(s, "flash-attn", "2.8.2");
       s.log = "[3/73] /usr/local/cuda/bin/nvcc -c /tmp/zorp.cu -o zorp.o --threads 4\n"
               "FAILED: zorp.o\nnvcc error   : 'ptxas' died due to signal 9 (Kill signal)\n"
               "ninja: build stopped: subcommand failed.\n";
     }},
    {"native_without_a_gpu", "native-without-gpu", "-DCMAKE_CUDA_ARCHITECTURES=90",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.8.93");
       s.root.prepend_path(k_local + "/bin");
       s.log =
           "#9 1.3 -- Using CMAKE_CUDA_ARCHITECTURES=native\n"
           "#9 2.5 nvcc fatal   : Unsupported gpu architecture 'compute_No CUDA devices found.'\n"
           "#9 2.6 gmake[2]: *** [zorp/build.make:92] Error 1\n";
     }},
    {"isolated_build", "build-isolated", "--no-build-isolation",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.8.93");
       venv(s);
       s.log =
           "  x Failed to build `zorp-attn==1.2`\n  [stderr]\n"
           "  Traceback (most recent call last):\n"
           "    File \"/home/u/.cache/uv/builds-v0/.tmpX/setuptools/build_meta.py\", line 5, in f\n"
           "    File \"<string>\", line 22, in <module>\n"
           "  ModuleNotFoundError: No module named 'torch'\n";
     }},
    {"repository_with_another_key", "repository-key", "cuda-keyring",
     [](Scene& s) {
       s.log = "Err:1 https://zorp.nvidia.com/compute/cuda/repos/q  InRelease\n"
               "  The following signatures couldn't be verified because the public key is not "
               "available: NO_PUBKEY A4B469963BF863CC\n"
               "E: The repository 'https://zorp.nvidia.com/cuda  InRelease' is not signed.\n";
     }},
    {"header_of_a_library_without_its_development_package", "header-missing",
     "conda install -p /opt/conda/envs/q libcusolver-dev",
     [](Scene& s) {
       s.root.put("/opt/conda/envs/q/conda-meta/history", "");
       s.root.put("/opt/conda/envs/q/lib/libcusolver.so.11",
                  test::elf_library("libcusolver.so.11", {}));
       s.root.toolkit("/opt/conda/envs/q", "12.6.77");
       s.root.remove("/opt/conda/envs/q/include/cusolverMg.h");
       s.root.environment.set("CONDA_PREFIX", "/opt/conda/envs/q");
       s.log = "clang++ -I/opt/conda/envs/q/include -c p.cpp -o p.o\n"
               "p.cpp:4:10: fatal error: 'cusolverMg.h' file not found\n1 error generated.\n";
     }},
    {"consumer_without_a_recipe", "nvcc-not-in-path", "export CUDA_ROOT=",
     [](Scene& s) {
       s.root.toolkit("/opt/cuda-12.8", "12.8.93");
       cuda_home(s, "/opt/cuda-12.8");
       s.log = "  Building wheel for zorp (pyproject.toml): finished with status 'error'\n"
               "  *** CUDA_ROOT not set, and nvcc not in path. Giving up.\n"
               "  error: subprocess-exited-with-error\n";
     }},
    {"host_compiler_of_a_version_that_is_not_here", "host-compiler-missing", "/usr/bin/g++",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       s.log = "nvcc -ccbin gcc-91 -c k.cu\ngcc-91: No such file or directory\n"
               "nvcc fatal   : Failed to preprocess host compiler properties.\n";
     }},
    {"target_that_no_cuda_has", "target-unknown", "cukit gpus",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       gpu(s, "sm_120");
       s.log = "nvcc fatal   : Unsupported gpu architecture 'sm_125'\n";
     }},
    {"instruction_of_another_architecture", "target-lacks-feature", "sm_100a",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       gpu(s, "sm_120");
       s.log = "ptxas z.ptx, line 4; error   : Instruction 'tcgen05.zorp' not supported on .target "
               "'sm_120'\nptxas fatal   : Ptx assembly aborted due to errors\n";
     }},
    {"header_that_no_cccl_has", "header-missing", "look at the name",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       s.log = "z.cu:1:10: fatal error: cuda/std/zorp: No such file or directory\n"
               "compilation terminated.\n";
     }},
    {"header_of_a_product_of_its_own", "header-missing", "install cutensor",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.log = "z.cu(3): catastrophic error: cannot open source file \"cutensorZorp.h\"\n";
     }},
    {"cmake_target_of_a_library_that_went", "cmake-target-missing", "cuda-nvtx-12-8",
     [](Scene& s) {
       s.root.toolkit(k_local, "12.9.86");
       s.log = "CMake Error at zorp.cmake:186 (set_property):\n"
               "  The link interface of target \"zorp::q\" contains:\n\n    CUDA::nvToolsExt\n\n"
               "  but the target was not found.  Possible reasons include:\n\n"
               "CMake Generate step failed.  Build files cannot be regenerated correctly.\n";
     }},
    {"module_that_a_build_of_a_folder_does_not_see", "build-isolated",
     "--no-build-isolation ./zorp",
     [](Scene& s) {
       venv(s);
       s.log = "Processing ./zorp\n  Getting requirements to build wheel: started\n"
               "      ModuleNotFoundError: No module named 'torch'\n"
               "error: subprocess-exited-with-error\nERROR: Failed to build 'zorp' when getting "
               "requirements to build wheel\n";
     }},
    {"compiler_that_cmakes_cache_keeps", "build-environment-differs",
     "rm -rf /src/b/CMakeCache.txt",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       s.log = "CMake Error at CMakeLists.txt:2 (project):\n  The CMAKE_CUDA_COMPILER:\n\n"
               "    /opt/gone/bin/nvcc\n\n  is not a full path to an existing compiler tool.\n\n\n"
               "-- Configuring incomplete, errors occurred!\n"
               "See also \"/src/b/CMakeFiles/CMakeOutput.log\".\n";
     }},
    {"program_below_a_variables_folder", "variable-wrong-folder", "CUDA_HOME=/usr/local/cuda",
     [](Scene& s) {
       s.root.toolkit(k_local, "13.0.88");
       s.root.prepend_path(k_local + "/bin");
       cuda_home(s, "/opt/gone");
       s.log = "/opt/gone/bin/nvcc -c z.cu -o z.o\nmake: /opt/gone/bin/nvcc: No such file or "
               "directory\nmake: *** [Makefile:2: z.o] Error 127\n";
     }},
    {"no_space_left", "disk-full", "TMPDIR",
     [](Scene& s) { s.log = "/tmp/zorp.s: Fatal error: /tmp/zorp.o: No space left on device\n"; }},
    {"python_without_headers", "python-headers-missing", "python3-dev",
     [](Scene& s) {
       s.log = "zorp.c:1:10: fatal error: Python.h: No such file or directory\n"
               "error: command '/usr/bin/gcc' failed with exit code 1\n";
     }},
};

class Reports : public testing::TestWithParam<Case> {};

TEST_P(Reports, the_cause_comes_first_with_a_fix_and_nobody_works) {
  expect_cause(GetParam());
  Scene scene;
  GetParam().build(scene);
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_TRUE(diagnosis.log.is_failed);
  EXPECT_TRUE(diagnosis.log.is_explained);
  EXPECT_GT(diagnosis.findings.front().log_line, 0U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Reports, testing::ValuesIn(k_reports), name_of);

TEST(Unexplained, failure_is_quoted_with_its_command_and_what_is_known_of_it) {
  Scene scene;
  scene.root.toolkit(k_local, "13.0.88");
  scene.root.prepend_path(k_local + "/bin");
  scene.log = "nvcc -I/usr/local/cuda/include -c zorp.cu -o zorp.o\n"
              "zorp.cu(12): error: the zorp of a quux must be a vlim\n"
              "1 error detected in the compilation of \"zorp.cu\".\n";
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, "log-not-explained");
  EXPECT_EQ(first.severity, Severity::error);
  EXPECT_THAT(first.cause, HasSubstr("must be a vlim"));
  EXPECT_THAT(told(diagnosis), HasSubstr("nvcc -I/usr/local/cuda/include -c zorp.cu"));
  EXPECT_THAT(told(diagnosis), HasSubstr("13.0.88"));
  EXPECT_TRUE(diagnosis.log.is_failed);
  EXPECT_FALSE(diagnosis.log.is_explained);
  EXPECT_TRUE(diagnosis.has_error());
}

TEST(Unexplained, consumer_that_the_log_is_about_does_not_work) {
  for (const auto* line :
       {"torch.zorp.ZorpError: quux\n", "CMake Error at x:1 (message):\n  quux\n",
        "make: *** [all] Error 2\n", "Killed\n"}) {
    Scene scene;
    scene.root.toolkit(k_local, "13.0.88");
    scene.root.prepend_path(k_local + "/bin");
    venv(scene);
    scene.log = line;
    const auto diagnosis = diagnosis_of(scene);
    EXPECT_TRUE(diagnosis.has_error()) << line;
    const bool all_work =
        std::all_of(diagnosis.consumers.begin(), diagnosis.consumers.end(),
                    [](const auto& one) { return one.verdict == Verdict::works; });
    EXPECT_FALSE(all_work) << line;
  }
}

TEST(Unexplained, log_of_a_build_that_went_well_is_silent) {
  Scene scene;
  scene.root.toolkit(k_local, "13.0.88");
  scene.root.prepend_path(k_local + "/bin");
  scene.log = "-- Performing Test HAVE_ZORP - Failed\n-- Build files have been written to: /b\n"
              "[1/1] g++ -Werror -c error.cpp -o fatal_error.o\n";
  const auto diagnosis = diagnosis_of(scene);
  EXPECT_TRUE(diagnosis.findings.empty()) << told(diagnosis);
  EXPECT_TRUE(diagnosis.log.is_read);
  EXPECT_FALSE(diagnosis.log.is_failed);
}

} // namespace
} // namespace cukit::doctor
