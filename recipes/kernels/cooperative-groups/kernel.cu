// A grid-wide barrier (cooperative launch) between two phases that exchange values across blocks, and warp-level reductions.
#include "probe.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int k_blocks = 8;
constexpr int k_threads = 128;

__global__ void two_phases(unsigned* values, unsigned* shifted, unsigned long long* total) {
  const cg::grid_group grid = cg::this_grid();
  const auto rank = static_cast<unsigned>(grid.thread_rank());
  const auto size = static_cast<unsigned>(grid.size());
  values[rank] = rank + 1;
  grid.sync();
  shifted[rank] = values[(rank + k_threads) % size]; // written by another block
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const unsigned sum = cg::reduce(tile, shifted[rank], cg::plus<unsigned>());
  if (tile.thread_rank() == 0) {
    atomicAdd(total, static_cast<unsigned long long>(sum));
  }
}

int main() {
  if (probe::attribute(cudaDevAttrCooperativeLaunch) == 0) {
    probe::skip("the device has no cooperative launch");
  }
  constexpr unsigned size = k_blocks * k_threads;
  const probe::Buffer<unsigned> values(size);
  const probe::Buffer<unsigned> shifted(size);
  probe::Buffer<unsigned long long> total(1);
  total.clear();
  unsigned* values_pointer = values.data();
  unsigned* shifted_pointer = shifted.data();
  unsigned long long* total_pointer = total.data();
  void* arguments[] = {&values_pointer, &shifted_pointer, &total_pointer};
  PROBE_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(two_phases), dim3(k_blocks), dim3(k_threads), arguments, 0, nullptr));
  PROBE_LAUNCHED();
  const auto result = shifted.read();
  for (unsigned rank = 0; rank < size; ++rank) {
    PROBE_REQUIRE(result[rank] == (rank + k_threads) % size + 1);
  }
  probe::number("total", static_cast<double>(total.read()[0]));
  probe::number("first", result[0]);
  return probe::done();
}
