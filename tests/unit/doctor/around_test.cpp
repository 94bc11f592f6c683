// What breaks a build from outside of its code: shells, locks, limits, signals, containers, wheels
// for others. Messages are those that the tools print.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

/// torch 2.8.0+cu128 beside CUDA 12.8, all of it sound.
void sound(Scene& scene) {
  venv(scene, "", "", "2.8.0+cu128", "12.8");
  scene.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
  scene.root.link(k_local, "cuda-12.8");
  scene.root.prepend_path(k_local + "/bin");
  gpu(scene, "sm_90");
}

struct Said {
  const char* name;
  const char* log;
  const char* id;
  const char* cause; ///< a part of it
  const char* fix;   ///< a part of one
};

void PrintTo(const Said& one, std::ostream* out) {
  *out << one.name;
}

class Around : public testing::TestWithParam<Said> {};

TEST_P(Around, is_named_with_its_fix) {
  Scene scene;
  sound(scene);
  scene.log = GetParam().log;
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, GetParam().id) << told(diagnosis);
  EXPECT_THAT(first.cause, HasSubstr(GetParam().cause));
  std::string fixes;
  for (const auto& fix : first.fix) {
    fixes += fix.text() + "\n";
  }
  EXPECT_THAT(fixes, HasSubstr(GetParam().fix)) << told(diagnosis);
  EXPECT_TRUE(diagnosis.log.is_failed);
  EXPECT_TRUE(diagnosis.has_error());
}

const Said k_said[] = {
    {"a_folder_of_cd", "dash: 1: cd: can't cd to nowhere\n", "file-missing", "nowhere", "folder"},
    {"nothing_configured", "ninja: error: loading 'build.ninja': No such file or directory\n",
     "file-missing", "nothing was configured", "cmake -S . -B build"},
    {"dos_line_ends", "bash: ./configure: /bin/sh^M: bad interpreter: No such file or directory\n",
     "program-missing", "carriage return", "sed -i"},
    {"a_cut_library",
     "/usr/bin/ld: ./libbad.so: file format not recognized; treating as linker script\n"
     "/usr/bin/ld: ./libbad.so:0: syntax error\ncollect2: error: ld returned 1 exit status\n",
     "file-damaged", "libbad.so", "file -L"},
    {"a_library_of_a_library",
     "/usr/bin/ld: warning: libcudart.so.12, needed by ./libhelper.so, not found (try using "
     "-rpath or -rpath-link)\n"
     "/usr/bin/ld: /tmp/cc.o: in function `main':\nm2.cpp:(.text+0x11): undefined reference to "
     "`deep'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:3: m2] Error 1\n",
     "library-not-found", "libcudart.so.12", "LD_LIBRARY_PATH"},
    {"nvccs_option_for_gcc",
     "g++ -arch=sm_90 -c m.cpp -o m.o\ng++: error: unrecognized command-line option "
     "\xe2\x80\x98-arch=sm_90\xe2\x80\x99\nmake: *** [Makefile:2: all] Error 1\n",
     "option-unknown", "an option of nvcc", "COMPILE_LANGUAGE:CUDA"},
    {"a_newer_cmake",
     "CMake Error at CMakeLists.txt:1 (cmake_minimum_required):\n  CMake 4.90 or higher is "
     "required.  You are running version 3.25.1\n\n\n-- Configuring incomplete, errors occurred!\n",
     "version-not-met", "CMake 4.90", "CMake 4.90"},
    {"a_crash_is_no_lack_of_memory",
     "nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\n"
     "make: *** [Makefile:2: a.o] Error 139\n",
     "compiler-crashed", "cicc crashed (signal 11)", "another patch release"},
    {"a_crash_of_gcc",
     "g++: internal compiler error: Segmentation fault signal terminated program cc1plus\n"
     "Please submit a full bug report\n",
     "compiler-crashed", "cc1plus crashed", "again alone"},
    {"killed_by_nvccs_own_words", "nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n",
     "compiler-killed", "cicc", "MAX_JOBS"},
    {"exit_code_137_of_a_container",
     "The command '/bin/sh -c pip install flash-attn' returned a non-zero code: 137\n",
     "compiler-killed", "memory ran out", "MAX_JOBS"},
    {"memory_of_a_job",
     "slurmstepd: error: Detected 1 oom_kill event in StepId=553.batch. Some of the step tasks "
     "have been OOM Killed.\n",
     "compiler-killed", "memory ran out", "MAX_JOBS"},
    {"time_of_a_job",
     "slurmstepd: error: *** JOB 553 ON gpu01 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT "
     "***\n",
     "limit-reached", "time limit", "--time"},
    {"size_of_a_file",
     "g++: internal compiler error: File size limit exceeded signal terminated program cc1plus\n",
     "limit-reached", "may not become larger", "ulimit -f"},
    {"a_full_cache_of_pip",
     "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device: "
     "'/home/dev/.cache/pip/http/1/2'\n",
     "disk-full", "/home/dev/.cache/pip", "PIP_CACHE_DIR"},
    {"a_lock_of_apt",
     "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1182 "
     "(unattended-upgr)\n"
     "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another "
     "process using it?\n",
     "lock-held", "/var/lib/dpkg/lock-frontend locked", "wait"},
    {"a_build_that_asked_for_its_requirements",
     "  Getting requirements to build wheel: started\n"
     "  Getting requirements to build wheel: finished with status 'error'\n"
     "  error: subprocess-exited-with-error\n"
     "  ModuleNotFoundError: No module named 'torch'\n",
     "build-isolated", "which has no torch", "--no-build-isolation"},
    {"a_build_without_isolation",
     "  Preparing metadata (pyproject.toml): finished with status 'error'\n"
     "  error: subprocess-exited-with-error\n"
     "  ModuleNotFoundError: No module named 'zorp'\n",
     "module-missing", "zorp", "zorp"},
    {"an_nvrtc_that_does_not_know_the_gpu",
     "zorp.CompileException: nvrtc: error: invalid value for --gpu-architecture (-arch)\n",
     "nvrtc-lacks-target", "does not compile for sm_90", "nvidia-cuda-nvrtc"},
    {"a_kernel_of_triton_that_is_too_large",
     "E0410 select_algorithm.py:2134] OutOfResources: out of resource: shared memory, Required: "
     "110592, Hardware limit: 101376. Reducing block sizes may help\n"
     "AttributeError: 'NoneType' object has no attribute 'zorp'\n",
     "gpu-limit-exceeded", "wants 110592 of shared memory", "smaller blocks"},
    {"a_kernel_with_too_much_static_memory",
     "ptxas error   : Entry function '_Z4zorpv' uses too much shared data (0x1c000 bytes, 0xc000 "
     "max)\n",
     "gpu-limit-exceeded", "_Z4zorpv wants 0x1c000 bytes", "cudaFuncAttribute"},
    {"the_memory_of_a_gpu",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
     "cuda-call-failed", "memory is full", "nvidia-smi"},
    {"a_torch_for_cpus", "AssertionError: Torch not compiled with CUDA enabled\n",
     "torch-has-no-code", "without CUDA", "+cu"},
    {"a_libcuda_that_does_not_start",
     "E zorp.cc:51] failed call to cuInit: CUDA error: Failed call to cuInit: UNKNOWN ERROR "
     "(303)\n",
     "cuda-call-failed", "error 303", "nvidia-smi"},
    {"a_panic_of_rust",
     "thread 'main' panicked at build.rs:45:10:\n`zorp-smi` failed. Ensure that it is there: Os { "
     "code: 2, kind: NotFound, message: \"No such file or directory\" }\n",
     "program-missing", "zorp-smi", "PATH"},
    {"a_header_of_the_host_compiler",
     "/usr/lib/gcc/x86_64-linux-gnu/19/include/zorpintrin.h(42): error: identifier "
     "\"__builtin_ia32_zorp\" is undefined\n1 error detected in the compilation of \"x.cu\".\n",
     "host-compiler-too-new", "g++ 19", "g++"},
    {"a_header_of_the_c_library",
     "/usr/include/x86_64-linux-gnu/bits/zorp.h(86): error: invalid combination of type "
     "specifiers\n1 error detected in the compilation of \"x.cu\".\n",
     "glibc-too-new", "bits/zorp.h", "newer nvcc"},
    {"a_version_that_an_exception_tells_in_the_next_line",
     "zorp.SetupError:\n    zorp needs at least CUDA 99.1\n", "version-not-met", "CUDA >=99.1", ""},
    {"a_managed_python",
     "error: externally-managed-environment\n\n\xc3\x97 This environment is externally managed\n",
     "python-managed", "package manager's own", "python3 -m venv"},
    {"a_wheel_for_another_python",
     "ERROR: flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl is not a "
     "supported wheel on this platform.\n",
     "version-not-met", "another Python", "wheels for"},
    {"no_wheel_for_this_python",
     "  \xc3\x97 No solution found when resolving dependencies:\n  "
     "\xe2\x95\xb0\xe2\x94\x80\xe2\x96\xb6 "
     "Because torch==2.9.0+cu128 has no wheels with a matching Python ABI tag (e.g., `cp39`) and "
     "you require torch==2.9.0+cu128, we can conclude that your requirements are "
     "unsatisfiable.\n",
     "version-not-met", "torch==2.9.0+cu128", "Python"},
    {"no_driver_for_conda",
     "Could not solve for environment specs\nThe following packages are incompatible\n"
     "\xe2\x94\x94\xe2\x94\x80 pytorch-gpu =* * is not installable because it requires\n"
     "   \xe2\x94\x94\xe2\x94\x80 __cuda =* *, which is missing on the system.\n",
     "conda-sees-no-driver", "driver", "CONDA_OVERRIDE_CUDA"},
    {"a_container_without_a_toolkit",
     "docker: Error response from daemon: could not select device driver \"\" with capabilities: "
     "[[gpu]].\n",
     "container-without-gpus", "container toolkit", "nvidia-ctk"},
    {"an_image_for_a_newer_driver",
     "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update "
     "your driver to a newer version, or use an earlier cuda container: unknown.\n",
     "driver-too-old", "cuda>=12.8", "branch 570"},
    {"a_container_started_without_gpus",
     "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA "
     "GPU and installed a driver\n",
     "cuda-call-failed", "no driver of NVIDIA answers", "--gpus all"},
    {"a_driver_that_torch_finds_too_old",
     "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please "
     "update your GPU driver\n",
     "driver-too-old", "of CUDA 11.4", "newer driver"},
    {"a_number_alone", "CUDA failure at main.cu:14: 802\n", "cuda-call-failed", "NVSwitch",
     "fabricmanager"},
    {"a_number_behind_the_word", "CUDA error 35 at main.cu:120\n", "driver-too-old", "error 35",
     "driver"},
    {"an_extension_of_another_torch",
     "ImportError: /venv/lib/python3.12/site-packages/flash_attn_2_cuda.so: undefined symbol: "
     "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\n",
     "extension-of-another-torch", "torch than the 2.8.0+cu128", "2.8.0+cu128"},
    {"a_newer_libstdcxx",
     "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found "
     "(required by /venv/x.so)\n",
     "version-not-met", "/venv/x.so was built on a newer system", "libstdc++"},
    {"nvcc_was_not_seen",
     "CMake Error at /usr/share/cmake-3.25/Modules/CMakeDetermineCUDACompiler.cmake:180 "
     "(message):\n  Failed to find nvcc.\n\n  Compiler requires the CUDA toolkit.  Please set the "
     "CUDAToolkit_ROOT\n  variable.\nCall Stack (most recent call first):\n  CMakeLists.txt:2 "
     "(project)\n\n\n-- Configuring incomplete, errors occurred!\n",
     "build-environment-differs", "is in PATH here", "CUDACXX="},
    {"nvcc_was_not_seen_in_other_words",
     "CMake Error at CMakeLists.txt:2 (project):\n  No CMAKE_CUDA_COMPILER could be found.\n\n  "
     "Tell CMake where to find the compiler by setting either the environment\n  variable "
     "\"CUDACXX\" or the CMake cache entry.\n\n\n-- Configuring incomplete, errors occurred!\n",
     "build-environment-differs", "is in PATH here", "CUDACXX="},
    {"nvcc_did_not_compile_the_test",
     "-- The CUDA compiler identification is unknown\nCMake Error at "
     "CMakeDetermineCUDACompiler.cmake:603 (message):\n  Failed to detect a default CUDA "
     "architecture.\n\n  Compiler output:\n\n\n\nCall Stack (most recent call first):\n  "
     "CMakeLists.txt:2 (project)\n\n\n-- Configuring incomplete, errors occurred!\n",
     "compiler-check-failed", "did not compile", "cukit-test.cu"},
    {"headers_of_a_newer_gcc",
     "/usr/include/c++/15/bits/std_function.h(435): error: parameter packs not expanded with "
     "\"...\"\nmake: *** [Makefile:2: a.o] Error 1\n",
     "host-compiler-too-new", "g++ 15", "g++-14"},
    {"an_output_file",
     "nvcc fatal   : Could not open output file '/tmp/tmpxft_00000e6b_00000000-6_a.cpp4.ii'\n",
     "permission-refused", "/tmp/tmpxft", "ls -ld"},
};

INSTANTIATE_TEST_SUITE_P(all, Around, testing::ValuesIn(k_said),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(HostCompiler, of_a_version_that_nvcc_does_not_accept_is_not_installed) {
  Scene scene;
  sound(scene);
  scene.log = "nvcc -ccbin gcc-19 -c a.cu\nsh: 1: gcc-19: not found\nnvcc fatal   : Failed to "
              "preprocess host compiler properties.\nmake: *** [Makefile:2: a.o] Error 1\n";
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, "host-compiler-missing") << told(diagnosis);
  EXPECT_THAT(first.cause, HasSubstr("gcc-19"));
  for (const auto& fix : first.fix) {
    EXPECT_THAT(fix.text(), Not(HasSubstr("install")));
  }
  EXPECT_THAT(first.fix.front().text(), HasSubstr("-ccbin /usr/bin/g++")); // the last one counts
}

TEST(NoNvcc, but_a_toolkit_of_cukits_own_is_told_of) {
  Scene scene;
  venv(scene, "flashinfer-python");
  scene.question.own_toolkits = {"demo"};
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].id, "no-nvcc");
  EXPECT_EQ(diagnosis.findings[0].fix.at(0).text(), "eval \"$(cukit env demo)\"");
}

} // namespace
} // namespace cukit::doctor
