// Link-time optimisation of device code: both files become LTO intermediate, and nvlink makes machine code of them with the
// tree's libnvvm.
#include "probe.hpp"

__device__ unsigned step(unsigned state); // step.cu

__global__ void generate(unsigned* out, int rounds) {
  unsigned state = threadIdx.x + 1;
  for (int i = 0; i < rounds; ++i) {
    state = step(state);
  }
  out[threadIdx.x] = state;
}

int main() {
  constexpr int threads = 128;
  constexpr int rounds = 1000;
  const probe::Buffer<unsigned> out(threads);
  generate<<<1, threads>>>(out.data(), rounds);
  PROBE_LAUNCHED();
  const auto result = out.read();
  double sum = 0;
  for (unsigned i = 0; i < threads; ++i) {
    unsigned state = i + 1;
    for (int round = 0; round < rounds; ++round) {
      state = state * 1664525U + 1013904223U;
    }
    PROBE_REQUIRE(result[i] == state);
    sum += result[i];
  }
  probe::number("sum", sum);
  return probe::done();
}
