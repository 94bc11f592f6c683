// Where a toolkit's programs lie below its root: NVIDIA's own layout, which consumers build on, so
// that every tree of cukit keeps it. Recipes of components bring their files there (`provides`,
// `parts`, `move`); a test holds both together.
#pragma once

#include <string_view>

namespace cukit::layout {

inline constexpr std::string_view k_nvcc = "bin/nvcc";
inline constexpr std::string_view k_ptxas = "bin/ptxas"; ///< the part `ptxas` of nvcc's recipe
inline constexpr std::string_view k_nvlink = "bin/nvlink";
inline constexpr std::string_view k_fatbinary = "bin/fatbinary";
inline constexpr std::string_view k_cudafe = "bin/cudafe++";
inline constexpr std::string_view k_cicc = "nvvm/bin/cicc";
inline constexpr std::string_view k_libdevice = "nvvm/libdevice";
inline constexpr std::string_view k_runtime_header = "include/cuda_runtime_api.h";
inline constexpr std::string_view k_driver_header = "include/cuda.h";

} // namespace cukit::layout
