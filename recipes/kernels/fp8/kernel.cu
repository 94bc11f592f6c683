// fp8 (e4m3, e5m2) and fp4 (e2m1): conversion instructions where the target has them, emulation in the headers elsewhere; the
// numbers are the same. 1/3, a value out of range (saturates) and a tie.
#include "probe.hpp"

#include <cuda_fp4.h>
#include <cuda_fp8.h>

constexpr int k_results = 8;

__host__ __device__ inline float from_fp8(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, kind)));
}

__host__ __device__ inline void narrow(float third, float* out) {
  out[0] = from_fp8(__nv_cvt_float_to_fp8(third, __NV_SATFINITE, __NV_E4M3), __NV_E4M3);
  out[1] = from_fp8(__nv_cvt_float_to_fp8(third, __NV_SATFINITE, __NV_E5M2), __NV_E5M2);
  out[2] = from_fp8(__nv_cvt_float_to_fp8(3.0e6F * third, __NV_SATFINITE, __NV_E4M3), __NV_E4M3);
  out[3] = from_fp8(__nv_cvt_float_to_fp8(3.0e6F * third, __NV_SATFINITE, __NV_E5M2), __NV_E5M2);
  out[4] = static_cast<float>(__nv_fp8_e4m3(17.0F)); // 16 and 18 are the neighbours: a tie, 16 is even
  out[5] = static_cast<float>(__nv_fp8_e5m2(-2.5F));
  out[6] = __half2float(__half(__nv_cvt_fp4_to_halfraw(__nv_cvt_float_to_fp4(9.0F * third, __NV_E2M1, cudaRoundNearest), __NV_E2M1)));
  out[7] = __half2float(__half(__nv_cvt_fp4_to_halfraw(__nv_cvt_float_to_fp4(-100.0F, __NV_E2M1, cudaRoundNearest), __NV_E2M1)));
}

__global__ void convert(float third, float* out) { narrow(third, out); }

int main() {
  const float third = 1.0F / 3.0F;
  const probe::Buffer<float> device(k_results);
  convert<<<1, 1>>>(third, device.data());
  PROBE_LAUNCHED();
  const auto result = device.read();
  float host[k_results];
  narrow(third, host);
  for (int i = 0; i < k_results; ++i) {
    PROBE_REQUIRE(result[i] == host[i]);
  }
  probe::number("e4m3_third", result[0]);
  probe::number("e5m2_third", result[1]);
  probe::number("e4m3_saturated", result[2]);
  probe::number("e5m2_saturated", result[3]);
  probe::number("e4m3_tie", result[4]);
  probe::number("e5m2_exact", result[5]);
  probe::number("e2m1_three", result[6]);
  probe::number("e2m1_saturated", result[7]);
  return probe::done();
}
