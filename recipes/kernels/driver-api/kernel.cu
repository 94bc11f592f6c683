// The driver's own interface, linked against the tree's stub and served by the machine's driver: memory by cuMemAlloc, a kernel of
// this file launched by cuLaunchKernel, names that cuda.h gives a new version by macro.
#include "probe.hpp"

#include <cuda.h>

__global__ void square(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }

void check(CUresult code, const char* what, int line) {
  if (code != CUDA_SUCCESS) {
    const char* name = nullptr;
    cuGetErrorName(code, &name);
    probe::fail(what, name != nullptr ? name : "unknown error", line);
  }
}
#define DRIVER_CHECK(call) check((call), #call, __LINE__)

int main() {
  constexpr unsigned threads = 50;
  DRIVER_CHECK(cuInit(0));
  CUdevice device = 0;
  DRIVER_CHECK(cuDeviceGet(&device, 0));
  CUcontext context = nullptr;
  DRIVER_CHECK(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER_CHECK(cuCtxSetCurrent(context));
  int warp = 0;
  DRIVER_CHECK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  CUdeviceptr memory = 0;
  DRIVER_CHECK(cuMemAlloc(&memory, threads * sizeof(int)));
  std::vector<int> values(threads);
  for (unsigned i = 0; i < threads; ++i) {
    values[i] = static_cast<int>(i);
  }
  DRIVER_CHECK(cuMemcpyHtoD(memory, values.data(), threads * sizeof(int)));
  cudaFunction_t function = nullptr;
  PROBE_CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(square)));
  void* parameters[] = {&memory};
  DRIVER_CHECK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
  DRIVER_CHECK(cuCtxSynchronize());
  DRIVER_CHECK(cuMemcpyDtoH(values.data(), memory, threads * sizeof(int)));
  DRIVER_CHECK(cuMemFree(memory));
  int sum = 0;
  for (unsigned i = 0; i < threads; ++i) {
    PROBE_REQUIRE(values[i] == static_cast<int>(i * i));
    sum += values[i];
  }
  DRIVER_CHECK(cuDevicePrimaryCtxRelease(device));
  probe::number("sum", sum);
  probe::number("warp", warp);
  return probe::done();
}
