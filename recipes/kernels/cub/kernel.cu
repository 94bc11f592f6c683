// CUB on both levels: a block-wide reduction inside a kernel, device-wide sum and radix sort with temporary storage.
#include "probe.hpp"

#include <cub/cub.cuh>

#include <algorithm>

constexpr int k_threads = 128;
constexpr int k_blocks = 64;
constexpr int k_count = k_threads * k_blocks;

__global__ void block_sums(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, k_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(in[blockIdx.x * k_threads + threadIdx.x]);
  if (threadIdx.x == 0) {
    out[blockIdx.x] = sum;
  }
}

template <typename Work> void with_storage(Work work) {
  std::size_t bytes = 0;
  PROBE_CHECK(work(nullptr, bytes));
  const probe::Buffer<unsigned char> storage(std::max<std::size_t>(bytes, 1));
  PROBE_CHECK(work(storage.data(), bytes));
  PROBE_LAUNCHED();
}

int main() {
  std::vector<int> values(k_count);
  for (int i = 0; i < k_count; ++i) {
    values[i] = (i * 7919) % 10'007;
  }
  const probe::Buffer<int> in(values);
  const probe::Buffer<int> sums(k_blocks);
  block_sums<<<k_blocks, k_threads>>>(in.data(), sums.data());
  PROBE_LAUNCHED();
  long long block_total = 0;
  for (const int sum : sums.read()) {
    block_total += sum;
  }
  const probe::Buffer<int> total(1);
  with_storage([&](void* storage, std::size_t& bytes) { return cub::DeviceReduce::Sum(storage, bytes, in.data(), total.data(), k_count); });
  const probe::Buffer<int> sorted(k_count);
  with_storage([&](void* storage, std::size_t& bytes) { return cub::DeviceRadixSort::SortKeys(storage, bytes, in.data(), sorted.data(), k_count); });
  std::sort(values.begin(), values.end());
  PROBE_REQUIRE(sorted.read() == values);
  probe::number("block_total", static_cast<double>(block_total));
  probe::number("device_total", total.read()[0]);
  probe::number("median", sorted.read()[k_count / 2]);
  return probe::done();
}
