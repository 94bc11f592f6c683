// y = a x + y over whole numbers that float holds exactly, so every element and the sum have one right value.
#include "probe.hpp"

__global__ void saxpy(int count, float a, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) {
    y[i] = a * x[i] + y[i];
  }
}

int main() {
  constexpr int count = 100'003; // no multiple of the block
  std::vector<float> x(count);
  std::vector<float> y(count);
  for (int i = 0; i < count; ++i) {
    x[i] = static_cast<float>(i % 1000);
    y[i] = static_cast<float>(i % 7);
  }
  const probe::Buffer<float> device_x(x);
  const probe::Buffer<float> device_y(y);
  saxpy<<<(count + 255) / 256, 256>>>(count, 3.0F, device_x.data(), device_y.data());
  PROBE_LAUNCHED();
  const auto result = device_y.read();
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    PROBE_REQUIRE(result[i] == 3.0F * x[i] + y[i]);
    sum += result[i];
  }
  probe::number("sum", sum);
  return probe::done();
}
