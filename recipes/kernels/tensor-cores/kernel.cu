// Tensor cores through mma.h: fp16 times fp16 into float over small whole numbers, every element compared with the host's.
#include "probe.hpp"

#include <cuda_fp16.h>
#include <mma.h>

constexpr int k_size = 16;
constexpr int k_elements = k_size * k_size;

__global__ void multiply(const __half* a, const __half* b, float* d) {
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::matrix_a, k_size, k_size, k_size, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, k_size, k_size, k_size, __half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, k_size, k_size, k_size, float> sum;
  wmma::fill_fragment(sum, 1.0F);
  wmma::load_matrix_sync(left, a, k_size);
  wmma::load_matrix_sync(right, b, k_size);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, k_size, wmma::mem_row_major);
}

int left_at(int row, int column) { return (row * 3 + column) % 7 - 3; }
int right_at(int row, int column) { return (row + column * 5) % 9 - 4; }

int main() {
  std::vector<__half> a(k_elements);
  std::vector<__half> b(k_elements);
  for (int i = 0; i < k_elements; ++i) {
    a[i] = __float2half(static_cast<float>(left_at(i / k_size, i % k_size)));
    b[i] = __float2half(static_cast<float>(right_at(i / k_size, i % k_size)));
  }
  const probe::Buffer<__half> device_a(a);
  const probe::Buffer<__half> device_b(b);
  const probe::Buffer<float> device_d(k_elements);
  multiply<<<1, 32>>>(device_a.data(), device_b.data(), device_d.data());
  PROBE_LAUNCHED();
  const auto d = device_d.read();
  double sum = 0;
  double trace = 0;
  for (int row = 0; row < k_size; ++row) {
    for (int column = 0; column < k_size; ++column) {
      int expected = 1;
      for (int k = 0; k < k_size; ++k) {
        expected += left_at(row, k) * right_at(k, column);
      }
      PROBE_REQUIRE(d[row * k_size + column] == static_cast<float>(expected));
      sum += d[row * k_size + column];
    }
    trace += d[row * k_size + row];
  }
  probe::number("sum", sum);
  probe::number("trace", trace);
  return probe::done();
}
