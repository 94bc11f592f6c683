// Functions that CUDA's headers and newer C libraries both declare (sinpi, cospi, rsqrt and others): they must compile together
// for host and device and give the same numbers within the documented errors.
#include <cmath>

#include "probe.hpp"

constexpr int k_results = 8;

__host__ __device__ inline void compute(double half, float four, double* out) {
  out[0] = sinpi(half);
  out[1] = cospi(2.0 * half);
  out[2] = rsqrt(static_cast<double>(four));
  out[3] = static_cast<double>(rsqrtf(four));
  out[4] = cbrt(27.0 * 2.0 * half);
  out[5] = erf(half);
  out[6] = fma(half, 3.0, 0.25);
  out[7] = static_cast<double>(exp2f(four) + hypotf(3.0F, four));
}

__global__ void on_device(double half, float four, double* out) { compute(half, four, out); }

int main() {
  const probe::Buffer<double> device(k_results);
  on_device<<<1, 1>>>(0.5, 4.0F, device.data());
  PROBE_LAUNCHED();
  const auto result = device.read();
  double host[k_results];
  compute(0.5, 4.0F, host);
  for (int i = 0; i < k_results; ++i) {
    PROBE_REQUIRE(std::fabs(result[i] - host[i]) <= 1e-5);
  }
  const char* const names[k_results] = {"sinpi", "cospi", "rsqrt", "rsqrtf", "cbrt", "erf", "fma", "floats"};
  for (int i = 0; i < k_results; ++i) {
    probe::number(names[i], result[i]);
  }
  return probe::done();
}
