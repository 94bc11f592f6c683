// libcu++ in device code: containers and numbers of cuda::std, an atomic_ref over plain memory, a barrier of a block.
#include "probe.hpp"

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

constexpr int k_threads = 256;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() is called below, as libcu++ wants it for shared memory
__global__ void work(unsigned* counter, float* real_part, int* handed_on) {
  const cuda::std::array<int, 4> parts{1, 2, 3, 4};
  const cuda::std::span<const int> view(parts.data(), parts.size());
  unsigned sum = 0;
  for (const int part : view) {
    sum += static_cast<unsigned>(part);
  }
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> shared_counter(*counter);
  shared_counter.fetch_add(sum, cuda::memory_order_relaxed);

  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int slots[k_threads];
  if (threadIdx.x == 0) {
    init(&barrier, k_threads);
  }
  __syncthreads();
  slots[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
  barrier.arrive_and_wait();
  handed_on[threadIdx.x] = slots[k_threads - 1 - threadIdx.x];

  if (threadIdx.x == 0) {
    const cuda::std::complex<float> square = cuda::std::complex<float>(3.0F, 2.0F) * cuda::std::complex<float>(3.0F, 2.0F);
    const auto pair = cuda::std::make_tuple(square.real(), square.imag());
    *real_part = cuda::std::get<0>(pair) * 100.0F + cuda::std::get<1>(pair);
  }
}

static_assert(cuda::std::numeric_limits<unsigned short>::max() == 65535);

int main() {
  probe::Buffer<unsigned> counter(1);
  counter.clear();
  const probe::Buffer<float> real_part(1);
  const probe::Buffer<int> handed_on(k_threads);
  work<<<1, k_threads>>>(counter.data(), real_part.data(), handed_on.data());
  PROBE_LAUNCHED();
  const auto handed = handed_on.read();
  for (int i = 0; i < k_threads; ++i) {
    PROBE_REQUIRE(handed[i] == (k_threads - 1 - i) * 3);
  }
  probe::number("counter", counter.read()[0]);
  probe::number("complex", real_part.read()[0]);
  return probe::done();
}
