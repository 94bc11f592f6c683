// version.txt and version.json at the root, in the form of NVIDIA's own installers: CMake and
// tilelang read the former, some installers' checks the latter.
#include "assemble/normalise.hpp"
#include "lock/placement.hpp"
#include "text/json.hpp"

#include <algorithm>
#include <array>

namespace cukit::assemble {

namespace {

struct Product {
  std::string_view component;
  std::string_view key;  ///< in version.json and in NVIDIA's redistributables
  std::string_view name; ///< as NVIDIA's manifests have it
};

constexpr std::array<Product, 30> k_products{{
    {"cccl", "cuda_cccl", "CUDA C++ Core Compute Libraries"},
    {"crt", "cuda_crt", "CUDA CRT"},
    {"cublas", "libcublas", "CUDA cuBLAS"},
    {"cudart", "cuda_cudart", "CUDA Runtime (cudart)"},
    {"cudla", "libcudla", "cuDLA"},
    {"cufft", "libcufft", "CUDA cuFFT"},
    {"cufile", "libcufile", "CUDA cuFile"},
    {"culibos", "cuda_culibos", "CUDA MATH Library (cuda culibos)"},
    {"cuobjdump", "cuda_cuobjdump", "CUDA cuobjdump"},
    {"cupti", "cuda_cupti", "NVIDIA profiling tools runtime library"},
    {"curand", "libcurand", "NVIDIA cuRAND library"},
    {"cusolver", "libcusolver", "CUDA cuSOLVER"},
    {"cusparse", "libcusparse", "NVIDIA cuSPARSE library"},
    {"npp", "libnpp", "CUDA NPP"},
    {"nvcc", "cuda_nvcc", "CUDA NVCC"},
    {"nvdisasm", "cuda_nvdisasm", "CUDA nvdisasm"},
    {"nvfatbin", "libnvfatbin", "NVIDIA fatbin library"},
    {"nvjitlink", "libnvjitlink", "NVIDIA compiler library for JIT LTO functionality"},
    {"nvjpeg", "libnvjpeg", "CUDA nvJPEG"},
    {"nvml", "cuda_nvml_dev", "NVIDIA NVML Development Library"},
    {"nvprune", "cuda_nvprune", "CUDA nvprune"},
    {"nvptxcompiler", "libnvptxcompiler", "CUDA nvPTXCompiler"},
    {"nvrtc", "cuda_nvrtc", "CUDA NVRTC"},
    {"nvtx", "cuda_nvtx", "NVIDIA Tools Extension"},
    {"nvvm", "libnvvm", "CUDA NVVM"},
    {"opencl", "cuda_opencl", "CUDA OpenCL"},
    {"profiler-api", "cuda_profiler_api", "NVIDIA CUDA Profiler API"},
    {"runtime", "cuda_cudart", "CUDA Runtime (cudart)"},
    {"sanitizer", "cuda_sanitizer_api", "CUDA Compute Sanitizer API"},
    {"tileiras", "cuda_tileiras", "CUDA TileIR Assembler"},
}};

/// A component this list does not know appears under its own name.
Product product_of(std::string_view component) {
  const auto* const it =
      std::find_if(k_products.begin(), k_products.end(),
                   [&](const Product& product) { return product.component == component; });
  return it == k_products.end() ? Product{component, component, component} : *it;
}

text::Json entry(std::string_view name, std::string version) {
  auto object = text::Json::object();
  object.set("name", name);
  object.set("version", std::move(version));
  return object;
}

} // namespace

std::map<std::string, std::string> component_versions(const lock::PlatformLock& platform) {
  std::map<std::string, std::string> versions;
  for (const bool picked : {false, true}) {
    for (const auto& artifact : platform.artifacts) {
      if (artifact.take.empty() != picked) {
        versions.emplace(artifact.component, artifact.version.text());
      }
    }
  }
  // ptxas and nvlink of another nvcc: a part with a version of its own.
  for (const auto& artifact : platform.artifacts) {
    if (lock::takes_ptxas(artifact.take)) {
      versions["ptxas"] = artifact.version.text();
    }
  }
  return versions;
}

Result<void> add_version_files(Claims& claims, const lock::Lock& lock,
                               const lock::PlatformLock& platform) {
  const std::string release = lock.release.text();
  CUKIT_TRY(claims.add_content("version.txt", fmt::format("CUDA Version {}\n", release)));
  std::map<std::string, text::Json> by_key;
  for (const auto& [component, version] : component_versions(platform)) {
    const auto product = product_of(component);
    by_key.emplace(product.key, entry(product.name, version));
  }
  auto document = text::Json::object();
  document.set("cuda", entry("CUDA SDK", release));
  for (auto& [key, value] : by_key) {
    document.set(key, std::move(value));
  }
  return claims.add_content("version.json", document.dump() + "\n");
}

} // namespace cukit::assemble
