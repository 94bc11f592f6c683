// Compilation at run time: NVRTC makes LTO intermediate of two sources, nvJitLink links them to machine code for the target, the
// runtime loads it. With `--emit FILE` the machine code is written instead, which needs no device: so a builder can check it.
#include "probe.hpp"

#include <nvJitLink.h>
#include <nvrtc.h>

#define PROBE_TEXT_INNER(x) #x
#define PROBE_TEXT(x) PROBE_TEXT_INNER(x)

namespace {

const char* const k_target = PROBE_TEXT(PROBE_TARGET); // sm_90, of the command line

const char* const k_kernel_source = R"(
extern __device__ int transform(int x);
extern "C" __global__ void apply(int* out) {
  out[threadIdx.x] = transform(static_cast<int>(threadIdx.x));
}
)";

const char* const k_function_source = R"(
template <int factor> __device__ int scaled(int x) { return factor * x; }
__device__ int transform(int x) { return scaled<7>(x) + 2; }
)";

void check(nvrtcResult code, nvrtcProgram program, int line) {
  if (code == NVRTC_SUCCESS) {
    return;
  }
  std::size_t size = 0;
  std::string log;
  if (program != nullptr && nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS) {
    log.resize(size);
    static_cast<void>(nvrtcGetProgramLog(program, log.data()));
  }
  probe::fail(nvrtcGetErrorString(code), log.c_str(), line);
}

std::vector<char> compile(const char* source, const char* name) {
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, source, name, 0, nullptr, nullptr), nullptr, __LINE__);
  const std::string arch = std::string("-arch=") + k_target;
  const char* options[] = {arch.c_str(), "-dlto", "-rdc=true"};
  check(nvrtcCompileProgram(program, 3, options), program, __LINE__);
  std::size_t size = 0;
  check(nvrtcGetLTOIRSize(program, &size), program, __LINE__);
  std::vector<char> bytes(size);
  check(nvrtcGetLTOIR(program, bytes.data()), program, __LINE__);
  check(nvrtcDestroyProgram(&program), nullptr, __LINE__);
  return bytes;
}

void check(nvJitLinkResult code, nvJitLinkHandle link, int line) {
  if (code == NVJITLINK_SUCCESS) {
    return;
  }
  std::size_t size = 0;
  std::string log = "error " + std::to_string(static_cast<int>(code));
  if (link != nullptr && nvJitLinkGetErrorLogSize(link, &size) == NVJITLINK_SUCCESS && size > 0) {
    log.resize(size);
    static_cast<void>(nvJitLinkGetErrorLog(link, log.data()));
  }
  probe::fail("nvJitLink", log.c_str(), line);
}

std::vector<char> link(const std::vector<std::vector<char>>& parts) {
  const std::string arch = std::string("-arch=") + k_target;
  const char* options[] = {"-lto", arch.c_str()};
  nvJitLinkHandle handle = nullptr;
  check(nvJitLinkCreate(&handle, 2, options), handle, __LINE__);
  for (const auto& part : parts) {
    check(nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, part.data(), part.size(), "part"), handle, __LINE__);
  }
  check(nvJitLinkComplete(handle), handle, __LINE__);
  std::size_t size = 0;
  check(nvJitLinkGetLinkedCubinSize(handle, &size), handle, __LINE__);
  std::vector<char> cubin(size);
  check(nvJitLinkGetLinkedCubin(handle, cubin.data()), handle, __LINE__);
  check(nvJitLinkDestroy(&handle), nullptr, __LINE__);
  return cubin;
}

int emit(const std::vector<char>& cubin, const char* path) {
  std::FILE* file = std::fopen(path, "wb");
  PROBE_REQUIRE(file != nullptr);
  PROBE_REQUIRE(std::fwrite(cubin.data(), 1, cubin.size(), file) == cubin.size());
  PROBE_REQUIRE(std::fclose(file) == 0);
  return probe::done();
}

} // namespace

int main(int count, char** arguments) {
  const auto cubin = link({compile(k_kernel_source, "kernel.cu"), compile(k_function_source, "function.cu")});
  if (count == 3 && std::strcmp(arguments[1], "--emit") == 0) {
    return emit(cubin, arguments[2]);
  }
  cudaLibrary_t library = nullptr;
  PROBE_CHECK(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  PROBE_CHECK(cudaLibraryGetKernel(&kernel, library, "apply"));
  constexpr unsigned threads = 64;
  const probe::Buffer<int> out(threads);
  int* pointer = out.data();
  void* parameters[] = {&pointer};
  PROBE_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(threads), parameters, 0, nullptr));
  PROBE_LAUNCHED();
  int sum = 0;
  for (const int value : out.read()) {
    sum += value;
  }
  probe::number("sum", sum);
  return probe::done();
}
