// A kernel that launches a kernel: libcudadevrt of the tree linked by its nvlink, which refuses one that is newer than itself.
#include "probe.hpp"

__global__ void child(int* out, int factor) { out[threadIdx.x] = static_cast<int>(threadIdx.x) * factor; }

__global__ void parent(int* out, int* status) {
  child<<<1, 32, 0, cudaStreamTailLaunch>>>(out, 5);
  *status = static_cast<int>(cudaGetLastError());
}

int main() {
  probe::Buffer<int> out(32);
  out.clear();
  const probe::Buffer<int> status(1);
  parent<<<1, 1>>>(out.data(), status.data());
  PROBE_LAUNCHED();
  PROBE_REQUIRE(status.read()[0] == 0);
  const auto result = out.read();
  int sum = 0;
  for (int i = 0; i < 32; ++i) {
    PROBE_REQUIRE(result[i] == 5 * i);
    sum += result[i];
  }
  probe::number("sum", sum);
  return probe::done();
}
