// fp16 and bf16: conversions with round to nearest even, the packed pairs, and arithmetic. Every result is a number that the
// format holds, so there is one right answer, which the host computes again with the same headers.
#include "probe.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

constexpr int k_results = 8;

__host__ __device__ inline void narrow(float x, float* out) {
  out[0] = __half2float(__float2half_rn(x));
  out[1] = __bfloat162float(__float2bfloat16_rn(x));
  const __half2 half_pair = __floats2half2_rn(x, 2.0F * x);
  out[2] = __low2float(half_pair) + __high2float(half_pair);
  const __nv_bfloat162 bfloat_pair = __floats2bfloat162_rn(x, 2.0F * x);
  out[3] = __low2float(bfloat_pair) + __high2float(bfloat_pair);
}

__global__ void convert(float third, float* out) {
  narrow(third, out);
  out[4] = __half2float(__hfma(__float2half_rn(1.5F), __float2half_rn(2.0F), __float2half_rn(0.25F)));
  out[5] = __bfloat162float(__hmul(__float2bfloat16_rn(1.5F), __float2bfloat16_rn(-3.0F)));
  out[6] = __half2float(__float2half_rn(2049.0F)); // a tie: goes to the even neighbour
  out[7] = isinf(__half2float(__float2half_rn(65520.0F))) ? 1.0F : 0.0F;
}

int main() {
  const float third = 1.0F / 3.0F;
  const probe::Buffer<float> device(k_results);
  convert<<<1, 1>>>(third, device.data());
  PROBE_LAUNCHED();
  const auto result = device.read();
  float host[4];
  narrow(third, host);
  for (int i = 0; i < 4; ++i) {
    PROBE_REQUIRE(result[i] == host[i]);
  }
  probe::number("fp16_third", result[0]);
  probe::number("bf16_third", result[1]);
  probe::number("fp16_pair", result[2]);
  probe::number("bf16_pair", result[3]);
  probe::number("fp16_fma", result[4]);
  probe::number("bf16_product", result[5]);
  probe::number("fp16_tie", result[6]);
  probe::number("fp16_overflow", result[7]);
  return probe::done();
}
