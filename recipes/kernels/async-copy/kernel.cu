// Asynchronous copies into shared memory, two stages deep: cuda::pipeline of libcu++ and memcpy_async of cooperative groups.
#include "probe.hpp"

#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr int k_threads = 128;
constexpr int k_batches = 16;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() is called below, as libcu++ wants it for shared memory
__global__ void batches(const int* in, int* out) {
  constexpr unsigned stages = 2;
  __shared__ alignas(16) int tile[stages][k_threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto fetch = [&](int batch) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tile[batch % stages], in + batch * k_threads, cuda::aligned_size_t<16>(sizeof(int) * k_threads), pipeline);
    pipeline.producer_commit();
  };
  fetch(0);
  int sum = 0;
  for (int batch = 0; batch < k_batches; ++batch) {
    if (batch + 1 < k_batches) {
      fetch(batch + 1);
    }
    pipeline.consumer_wait();
    sum += tile[batch % stages][(threadIdx.x + 1) % k_threads] * (batch + 1);
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

int main() {
  std::vector<int> values(k_threads * k_batches);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i % 101);
  }
  const probe::Buffer<int> in(values);
  const probe::Buffer<int> out(k_threads);
  batches<<<1, k_threads>>>(in.data(), out.data());
  PROBE_LAUNCHED();
  const auto result = out.read();
  long long total = 0;
  for (int thread = 0; thread < k_threads; ++thread) {
    int expected = 0;
    for (int batch = 0; batch < k_batches; ++batch) {
      expected += values[batch * k_threads + (thread + 1) % k_threads] * (batch + 1);
    }
    PROBE_REQUIRE(result[thread] == expected);
    total += result[thread];
  }
  probe::number("total", static_cast<double>(total));
  return probe::done();
}
