#include "assemble/assemble.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::assemble {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> symbols(const std::string& text) {
  return driver_symbols({{"cuda.h", text}});
}

TEST(DriverSymbols, takes_declarations_also_over_two_lines) {
  EXPECT_THAT(symbols("CUresult CUDAAPI cuInit(unsigned int Flags);\n"
                      "CUresult CUDAAPI\ncuDeviceGet (CUdevice *device, int ordinal);\n"),
              ElementsAre("cuDeviceGet", "cuInit"));
}

TEST(DriverSymbols, takes_what_a_macro_makes_of_a_call) {
  EXPECT_THAT(symbols("#define cuMemAlloc   cuMemAlloc_v2\n"), ElementsAre("cuMemAlloc_v2"));
}

TEST(DriverSymbols, takes_both_variants_of_a_function_with_per_thread_streams) {
  EXPECT_THAT(symbols("    #define cuMemcpyHtoD  __CUDA_API_PTDS(cuMemcpyHtoD_v2)\n"
                      "#  define cuStreamQuery __CUDA_API_PTSZ(cuStreamQuery)\n"),
              ElementsAre("cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2_ptds", "cuStreamQuery",
                          "cuStreamQuery_ptsz"));
}

TEST(DriverSymbols, takes_pointer_types_without_the_version_of_cuda) {
  EXPECT_THAT(symbols("typedef CUresult (CUDAAPI *PFN_cuProfilerStart_v4000)(void);\n"
                      "typedef CUresult (CUDAAPI *PFN_cuMemcpy_v7000_ptds)(CUdeviceptr_v2 dst);\n"
                      "typedef CUresult (CUDAAPI *PFN_cuDeviceGetUuid_v11040)(CUuuid *uuid);\n"),
              ElementsAre("cuDeviceGetUuid", "cuMemcpy_ptds", "cuProfilerStart"));
}

TEST(DriverSymbols, takes_nothing_else) {
  EXPECT_THAT(symbols("#define CUDAAPI __stdcall\n"
                      "#define CUDA_VERSION 13000\n"
                      "typedef uint64_t cuuint64_t;\n"
                      "typedef void (CUDAAPI *CUhostFn)(void *userData);\n"
                      " * see ::cuGetProcAddress and cuInit()\n"
                      "#define __CUDA_API_PTDS(api) api ## _ptds\n"
                      "#define cuda_thing 1\n"
                      "f(CUresource CUDAAPI *pCudaResource);\n"
                      "CUDAAPI"),
              IsEmpty());
}

// The names that the driver's own stub of CUDA 13.0 exports, of functions that programs reach by
// macros; from `nm -D`.
TEST(DriverSymbols, of_real_headers_hold_what_programs_call) {
  const fs::path folder = "/usr/local/cuda/include";
  if (!path_exists(folder / "cuda.h")) {
    GTEST_SKIP() << "no CUDA headers at " << folder;
  }
  std::map<std::string, std::string> headers;
  for (const char* name : {"cuda.h", "cudaGL.h", "cudaEGL.h", "cudaTypedefs.h"}) {
    if (path_exists(folder / name)) {
      headers[name] = *read_file(folder / name, 16U << 20U);
    }
  }
  const auto names = driver_symbols(headers);
  EXPECT_THAT(names,
              testing::IsSupersetOf({"cuInit", "cuMemAlloc_v2", "cuMemcpyHtoD_v2_ptds",
                                     "cuLaunchKernel", "cuLaunchKernelEx_ptsz", "cuCtxCreate_v4",
                                     "cuGetProcAddress_v2", "cuGLGetDevices_v2",
                                     "cuTensorMapEncodeTiled", "cuStreamWriteValue32_v2"}));
  EXPECT_GT(names.size(), 600U);
}

} // namespace
} // namespace cukit::assemble
