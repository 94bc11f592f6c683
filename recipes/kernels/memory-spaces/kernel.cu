// Constant memory, a texture over a two-dimensional array, and more dynamic shared memory than a block gets unasked.
#include "probe.hpp"

constexpr int k_width = 32;
constexpr int k_height = 16;
constexpr int k_shared_bytes = 64 * 1024;
constexpr int k_words = k_shared_bytes / 4;

__constant__ int weights[4];

__global__ void sample(cudaTextureObject_t texture, float* out) {
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  out[y * k_width + x] = tex2D<float>(texture, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F) * static_cast<float>(weights[x % 4]);
}

__global__ void reverse(int* out) {
  extern __shared__ int words[];
  for (int i = static_cast<int>(threadIdx.x); i < k_words; i += static_cast<int>(blockDim.x)) {
    words[i] = i;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < k_words; i += static_cast<int>(blockDim.x)) {
    out[i] = words[k_words - 1 - i];
  }
}

double sample_texture() {
  std::vector<float> image(k_width * k_height);
  for (std::size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<float>(i);
  }
  const int host_weights[4] = {1, 2, 3, 4};
  PROBE_CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  PROBE_CHECK(cudaMallocArray(&array, &format, k_width, k_height));
  constexpr std::size_t row = k_width * sizeof(float);
  PROBE_CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), row, row, k_height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  PROBE_CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  const probe::Buffer<float> out(image.size());
  sample<<<1, dim3(k_width, k_height)>>>(texture, out.data());
  PROBE_LAUNCHED();
  double sum = 0;
  const auto result = out.read();
  for (std::size_t i = 0; i < image.size(); ++i) {
    PROBE_REQUIRE(result[i] == image[i] * static_cast<float>(i % 4 + 1));
    sum += result[i];
  }
  PROBE_CHECK(cudaDestroyTextureObject(texture));
  PROBE_CHECK(cudaFreeArray(array));
  return sum;
}

int main() {
  if (probe::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) < k_shared_bytes) {
    probe::skip("a block of this device cannot have 64 kB of shared memory");
  }
  probe::number("texture", sample_texture());
  PROBE_CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, k_shared_bytes));
  const probe::Buffer<int> out(k_words);
  reverse<<<1, 256, k_shared_bytes>>>(out.data());
  PROBE_LAUNCHED();
  const auto result = out.read();
  for (int i = 0; i < k_words; ++i) {
    PROBE_REQUIRE(result[i] == k_words - 1 - i);
  }
  probe::number("shared_first", result[0]);
  return probe::done();
}
