// Symbols that the loader, a linker or nvlink misses, by whose they are. Functions are those of the
// libraries' documentations.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

using testing::HasSubstr;

struct Owned {
  const char* symbol;
  const char* library; ///< without .so
};

const Owned k_owned[] = {{"cublasGemmStridedBatchedEx", "libcublas"},
                         {"cufftXtMakePlanMany", "libcufft"},
                         {"curandGenerateUniform", "libcurand"},
                         {"cusparseSpSV_analysis", "libcusparse"},
                         {"cusolverDnXsyevd", "libcusolver"},
                         {"cudnnBackendExecute", "libcudnn"},
                         {"ncclCommSplit", "libnccl"},
                         {"nvrtcGetCUBIN", "libnvrtc"},
                         {"__nvJitLinkGetLinkedCubin_12_9", "libnvJitLink"},
                         {"cudaGraphAddNode", "libcudart"},
                         {"cuptiFinalize", "libcupti"},
                         {"nvmlDeviceGetPciInfo_v3", "libnvidia-ml"},
                         {"cuFileBatchIOSubmit", "libcufile"},
                         {"nvjpegDecodeBatched", "libnvjpeg"}};

Diagnosis of_log(const std::string& log) {
  Scene scene;
  scene.log = log;
  return diagnosis_of(scene);
}

TEST(Symbols, that_the_loader_misses_are_of_a_library_that_another_release_shadows) {
  for (const auto& [symbol, library] : k_owned) {
    const auto diagnosis = of_log(
        fmt::format("ImportError: /v/lib/python3.12/site-packages/zorp/libzorp.so: undefined "
                    "symbol: {}\n",
                    symbol));
    ASSERT_FALSE(diagnosis.findings.empty()) << symbol;
    const auto& first = diagnosis.findings.front();
    EXPECT_THAT(first.cause, HasSubstr(library)) << symbol;
    if (std::string_view(library) != "libnvJitLink") { // it has a rule of its own
      EXPECT_EQ(first.id, "library-lacks-symbols") << symbol;
      EXPECT_THAT(first.cause, HasSubstr("libzorp.so"));
    }
    EXPECT_TRUE(diagnosis.has_error());
  }
}

TEST(Symbols, with_a_version_node_name_the_very_library) {
  const auto diagnosis = of_log("ImportError: /v/torch/lib/libtorch_cpu.so: undefined symbol: "
                                "cuptiActivityZorp, version libcupti.so.12\n");
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_THAT(diagnosis.findings.front().cause, HasSubstr("libcupti.so.12"));
}

TEST(Symbols, that_a_linker_misses_are_of_a_library_that_the_link_does_not_name) {
  for (const auto& [symbol, library] : k_owned) {
    const auto diagnosis =
        of_log(fmt::format("g++ zorp.o -o zorp\n/usr/bin/ld: zorp.o: in function "
                           "`main':\nzorp.cpp:(.text+0x1f): undefined reference to "
                           "`{}'\ncollect2: error: ld returned 1 exit status\n",
                           symbol));
    ASSERT_FALSE(diagnosis.findings.empty()) << symbol;
    EXPECT_EQ(diagnosis.findings.front().id, "library-missing") << symbol;
    EXPECT_THAT(diagnosis.findings.front().cause, HasSubstr(library));
  }
}

TEST(Symbols, of_the_drivers_library_are_no_toolkits_fault) {
  for (const auto* symbol : {"cuMulticastCreate", "cuTensorMapEncodeTiled", "cuGreenCtxCreate"}) {
    const auto diagnosis =
        of_log(fmt::format("OSError: /v/libzorp.so: undefined symbol: {}\n", symbol));
    ASSERT_FALSE(diagnosis.findings.empty()) << symbol;
    EXPECT_EQ(diagnosis.findings.front().id, "driver-too-old") << symbol;
  }
}

TEST(Symbols, of_device_code_are_told_apart_from_those_of_the_host) {
  struct One {
    const char* log;
    const char* fix;
  };
  for (const auto& [log, fix] :
       {One{"nvlink error   : Undefined reference to '_Z4zorpi' in 'zorp.o'\n", "-rdc=true"},
        One{"ptxas fatal   : Unresolved extern function '_Z4zorpi'\n", "-rdc=true"},
        One{"nvlink error   : Undefined reference to 'cudaLaunchDeviceV2' in 'zorp.o'\n",
            "-lcudadevrt"},
        One{"/usr/bin/ld: zorp.o: in function `f':\nt.c:(.text+0x1): undefined reference to "
            "`__cudaRegisterLinkedBinary_1_zorp'\ncollect2: error: ld returned 1 exit status\n",
            "-dlink"}}) {
    const auto diagnosis = of_log(log);
    ASSERT_FALSE(diagnosis.findings.empty()) << log;
    EXPECT_EQ(diagnosis.findings.front().id, "device-link-incomplete") << log;
    EXPECT_THAT(told(diagnosis), HasSubstr(fix)) << log;
  }
}

TEST(Symbols, that_are_there_twice_are_said_so) {
  const auto diagnosis =
      of_log("/usr/bin/ld: b.o: in function `zorp()':\nb.cpp:(.text+0x0): multiple definition of "
             "`zorp()'; a.o:a.cpp:(.text+0x0): first defined here\n"
             "collect2: error: ld returned 1 exit status\n");
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().id, "symbol-defined-twice");
}

TEST(Symbols, of_torch_that_a_linker_misses_name_torchs_libraries) {
  const auto diagnosis =
      of_log("/usr/bin/ld: zorp.o: in function `f':\nz.cpp:(.text+0x1): undefined reference to "
             "`c10::Error::Error(c10::SourceLocation, std::__cxx11::basic_string<char>)'\n"
             "collect2: error: ld returned 1 exit status\n");
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().id, "library-missing");
  EXPECT_THAT(told(diagnosis), HasSubstr("-lc10"));
}

TEST(Symbols, of_the_users_own_code_stay_unexplained) {
  const auto diagnosis =
      of_log("/usr/bin/ld: z.o: in function `main':\nz.cpp:(.text+0x5): undefined reference to "
             "`zorp::quux(int)'\ncollect2: error: ld returned 1 exit status\n");
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().id, "log-not-explained");
}

TEST(Names, that_a_tool_refuses_are_told_where_nothing_is_known_of_its_release) {
  struct One {
    const char* log;
    const char* cause;
  };
  for (const auto& [log, cause] :
       {One{"nvcc fatal   : Unknown option '-compress-mode=size'\n",
            "-compress-mode came with CUDA 12.8"},
        One{"x.cu(3): error: identifier \"__nv_fp8_e8m0\" is undefined\n",
            "__nv_fp8_e8m0 came with CUDA 12.8"}}) {
    const auto diagnosis = of_log(log);
    ASSERT_FALSE(diagnosis.findings.empty()) << log;
    EXPECT_EQ(diagnosis.findings.front().id, "name-not-yet") << log;
    EXPECT_THAT(diagnosis.findings.front().cause, HasSubstr(cause));
  }
}

struct Demanded {
  const char* log;
  const char* cause;
  const char* fix;
};

TEST(Versions, that_code_demands_come_with_what_brings_them) {
  for (const auto& [log, cause, fix] :
       {Demanded{"RuntimeError: zorp requires NVCC >= 12.3, found 12.1\n", "nvcc >=12.3, and 12.1",
                 "cukit up"},
        Demanded{"x.h:3:2: error: #error \"C++20 or later is required\"\n", "C++ >=20",
                 "-std=c++20"},
        Demanded{"RuntimeError: zorp requires PyTorch >= 2.6.0 but 2.4.1+cu121 is installed\n",
                 "torch >=2.6.0, and 2.4.1", "torch >=2.6.0"}}) {
    const auto diagnosis = of_log(log);
    ASSERT_FALSE(diagnosis.findings.empty()) << log;
    EXPECT_EQ(diagnosis.findings.front().id, "version-not-met") << log;
    EXPECT_THAT(diagnosis.findings.front().cause, HasSubstr(cause));
    EXPECT_THAT(told(diagnosis), HasSubstr(fix)) << log;
  }
}

} // namespace
} // namespace cukit::doctor
