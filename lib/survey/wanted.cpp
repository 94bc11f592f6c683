#include "survey/wanted.hpp"

namespace cukit::survey {

namespace {

constexpr std::uint64_t k_wanted_bytes = 256U << 20U;

} // namespace

bool reads_bytes_of(std::string_view path, std::uint64_t size) {
  if (size > k_wanted_bytes) {
    return false;
  }
  const auto has = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  const bool is_small = size < (4U << 20U);
  return has("bin/") || has("etc/") || has("libc.so.6") || has("libc-2.") || has("nvJitLink") ||
         (is_small && (has(".dist-info/") || has("/include/") || has("torch/version.py") ||
                       has("version.json") || has("version.txt") || has("nvcc.profile") ||
                       has("cmake") || has("modulefiles") || has("build.ninja"))) ||
         (size < (64U << 20U) && path.ends_with(".so"));
}

} // namespace cukit::survey
