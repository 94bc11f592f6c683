// Two dependent kernels captured from a stream into a graph that is launched several times.
#include "probe.hpp"

constexpr int k_threads = 96;
constexpr int k_launches = 5;

__global__ void add(int* values, int amount) { values[threadIdx.x] += amount; }
__global__ void twice(int* values) { values[threadIdx.x] *= 2; }

int main() {
  probe::Buffer<int> values(k_threads);
  values.clear();
  cudaStream_t stream = nullptr;
  PROBE_CHECK(cudaStreamCreate(&stream));
  PROBE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add<<<1, k_threads, 0, stream>>>(values.data(), 3);
  PROBE_CHECK(cudaGetLastError());
  twice<<<1, k_threads, 0, stream>>>(values.data());
  PROBE_CHECK(cudaGetLastError());
  cudaGraph_t graph = nullptr;
  PROBE_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  PROBE_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < k_launches; ++i) {
    PROBE_CHECK(cudaGraphLaunch(executable, stream));
  }
  PROBE_CHECK(cudaStreamSynchronize(stream));
  PROBE_LAUNCHED();
  int sum = 0;
  for (const int value : values.read()) {
    PROBE_REQUIRE(value == 186); // v = 2 (v + 3), five times from 0
    sum += value;
  }
  PROBE_CHECK(cudaGraphExecDestroy(executable));
  PROBE_CHECK(cudaGraphDestroy(graph));
  PROBE_CHECK(cudaStreamDestroy(stream));
  probe::number("sum", sum);
  return probe::done();
}
