// The shared runtime: the program must load the tree's libcudart, not one that the machine happens to have.
#include "probe.hpp"

__global__ void triple(int* out) { out[threadIdx.x] = 3 * static_cast<int>(threadIdx.x); }

int main() {
  int version = 0;
  PROBE_CHECK(cudaRuntimeGetVersion(&version));
  PROBE_REQUIRE(version == CUDART_VERSION);
  const probe::Buffer<int> out(100);
  triple<<<1, 100>>>(out.data());
  PROBE_LAUNCHED();
  int sum = 0;
  for (const int value : out.read()) {
    sum += value;
  }
  probe::number("sum", sum);
  return probe::done();
}
