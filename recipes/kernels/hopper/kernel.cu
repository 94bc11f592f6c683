// A warpgroup matrix multiplication (wgmma) over shared memory: PTX that sm_90a has and plain sm_90 refuses. All elements of a
// matrix are equal, so that the result does not depend on its layout: d = 16 * 1 * 2, twice.
#include "probe.hpp"

#include <cuda_fp16.h>

#include <cstdint>

constexpr int k_threads = 128; // one warpgroup

/// Descriptor of a matrix without swizzle, made of 8 x 16 byte blocks: 128 bytes to the next one along k, 256 across.
__device__ std::uint64_t describe(const __half* matrix) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(matrix));
  constexpr std::uint64_t along = 128 >> 4U;
  constexpr std::uint64_t across = 256 >> 4U;
  return ((address & 0x3FFFFU) >> 4U) | (along << 16U) | (across << 32U);
}

__device__ void multiply(float (&d)[4], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile("{\n"
               ".reg .pred keep;\n"
               "setp.ne.b32 keep, %6, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, keep, 1, 1, 0, 0;\n"
               "}\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b), "r"(add)
               : "memory");
}

__global__ void __launch_bounds__(k_threads) warpgroup(float* out) {
  __shared__ alignas(128) __half a[64 * 16];
  __shared__ alignas(128) __half b[64 * 16];
  for (int i = static_cast<int>(threadIdx.x); i < 64 * 16; i += k_threads) {
    a[i] = __float2half(1.0F);
    b[i] = __float2half(2.0F);
  }
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); // wgmma reads through the asynchronous proxy
  __syncthreads();
  float d[4] = {-1.0F, -1.0F, -1.0F, -1.0F};
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
  multiply(d, describe(a), describe(b), 0);
  multiply(d, describe(a), describe(b), 1);
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  for (int i = 0; i < 4; ++i) {
    out[threadIdx.x * 4 + i] = d[i];
  }
}

int main() {
  const probe::Buffer<float> out(k_threads * 4);
  warpgroup<<<1, k_threads>>>(out.data());
  PROBE_LAUNCHED();
  double sum = 0;
  for (const float value : out.read()) {
    PROBE_REQUIRE(value == 64.0F);
    sum += value;
  }
  probe::number("sum", sum);
  return probe::done();
}
