// Relocatable device code: a function, a variable and a constant table that another file defines, joined by nvlink.
#include "probe.hpp"

#include "table.hpp"

__global__ void use(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = mix(i) + k_table[i % k_table_size];
  atomicAdd(&calls, 1);
}

int main() {
  constexpr int threads = 64;
  const probe::Buffer<int> out(threads);
  use<<<1, threads>>>(out.data());
  PROBE_LAUNCHED();
  const auto result = out.read();
  long long sum = 0;
  for (int i = 0; i < threads; ++i) {
    PROBE_REQUIRE(result[i] == i * i + 1 + 10 * (i % k_table_size + 1));
    sum += result[i];
  }
  int seen = 0;
  PROBE_CHECK(cudaMemcpyFromSymbol(&seen, calls, sizeof seen));
  probe::number("sum", static_cast<double>(sum));
  probe::number("calls", seen);
  return probe::done();
}
