// A cluster of two blocks that read each other's shared memory (compute capability 9.0 and later).
#include "probe.hpp"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int k_threads = 64;
constexpr int k_blocks = 8;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int values[k_threads];
  const cg::cluster_group cluster = cg::this_cluster();
  values[threadIdx.x] = static_cast<int>(blockIdx.x * 1000 + threadIdx.x);
  cluster.sync();
  const int* others = cluster.map_shared_rank(values, cluster.block_rank() ^ 1U);
  out[blockIdx.x * k_threads + threadIdx.x] = others[k_threads - 1 - threadIdx.x];
  cluster.sync(); // nobody leaves while its memory is read
}

int main() {
  if (probe::attribute(cudaDevAttrClusterLaunch) == 0) {
    probe::skip("the device has no thread block clusters");
  }
  const probe::Buffer<int> out(k_blocks * k_threads);
  exchange<<<k_blocks, k_threads>>>(out.data());
  PROBE_LAUNCHED();
  const auto result = out.read();
  int sum = 0;
  for (int block = 0; block < k_blocks; ++block) {
    for (int thread = 0; thread < k_threads; ++thread) {
      PROBE_REQUIRE(result[block * k_threads + thread] == (block ^ 1) * 1000 + k_threads - 1 - thread);
      sum += result[block * k_threads + thread];
    }
  }
  probe::number("sum", sum);
  return probe::done();
}
