// A warp's matrix multiplication of mixed fp8 kinds: PTX of the sm_120 family that plain sm_120 refuses. All elements of a matrix
// are equal, so that the result does not depend on its layout: d = 32 * 1 * 2 + 0.5.
#include "probe.hpp"

#include <cstdint>

__global__ void mixed(float* out) {
  constexpr std::uint32_t e4m3_ones = 0x38383838U;
  constexpr std::uint32_t e5m2_twos = 0x40404040U;
  float d[4];
  asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
               "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%6, %6, %6, %6};\n"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(e4m3_ones), "r"(e5m2_twos), "f"(0.5F));
  for (int i = 0; i < 4; ++i) {
    out[threadIdx.x * 4 + i] = d[i];
  }
}

int main() {
  const probe::Buffer<float> out(32 * 4);
  mixed<<<1, 32>>>(out.data());
  PROBE_LAUNCHED();
  double sum = 0;
  for (const float value : out.read()) {
    PROBE_REQUIRE(value == 64.5F);
    sum += value;
  }
  probe::number("sum", sum);
  return probe::done();
}
