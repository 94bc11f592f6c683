#include "fit/parts.hpp"

#include <algorithm>

namespace cukit::fit {

Fit core_part(const Version& nvcc, const Version& part) {
  return held_to(Bound::same, nvcc, part);
}

Fit minor_part(const Version& nvcc, const Version& part) {
  return held_to(Bound::same_minor, nvcc, part);
}

Fit binary_utility(const Version& nvcc, const Version& tool) {
  const auto major = held_to(Bound::same_major, nvcc, tool);
  return major.is_refused() ? major : held_to(Bound::at_least, nvcc, tool);
}

Fit reads_ptx(const Version& cicc, const Version& ptxas) {
  return held_to(Bound::at_least, cicc, ptxas);
}

Fit ptxas_beside(const Version& nvcc, const Version& ptxas) {
  const auto major = held_to(Bound::same_major, nvcc, ptxas);
  if (major.is_refused()) {
    return major;
  }
  return {
      .answer = ptxas < nvcc ? Answer::no : Answer::yes, .bound = Bound::at_least, .version = nvcc};
}

Fit linker_of(const Version& ptxas, const Version& nvlink) {
  return held_to(Bound::same, ptxas, nvlink);
}

Fit linker_of_minor(const Version& ptxas, const Version& nvlink) {
  return held_to(Bound::same_minor, ptxas, nvlink);
}

Fit device_runtime(const Version& nvlink, const Version& cudart) {
  return held_to(Bound::at_most, nvlink, cudart);
}

Fit cccl_line(const Version& own, const Version& cccl) {
  return held_to(Bound::at_least, own, cccl);
}

Fit cccl_found(const Version& own, const Version& cccl, const knowledge::Limits& limits) {
  return own < limits.cccl_numbers ? Fit{} : cccl_line(own, cccl);
}

int launch_arguments(const Version& nvcc, const knowledge::Limits& limits) {
  const knowledge::LaunchArguments* others = nullptr;
  for (const auto& one : limits.launch_arguments) {
    if (one.cuda && one.cuda->same_minor(nvcc)) {
      return one.count;
    }
    others = one.cuda ? others : &one;
  }
  return others == nullptr ? 0 : others->count;
}

Fit compiler_in_wheels(const Version& cuda, const knowledge::Limits& limits) {
  return held_to(Bound::at_least, limits.compiler_wheels, cuda);
}

const knowledge::PlatformEnd* ended_before(Platform platform, const Version& cuda,
                                           const knowledge::Limits& limits) {
  const auto end =
      std::find_if(limits.platforms.begin(), limits.platforms.end(), [&](const auto& one) {
        return one.platform == platform && compare_minor(cuda, one.without) >= 0;
      });
  return end == limits.platforms.end() ? nullptr : &*end;
}

Fit goes_with_torch(const Version& torch_cuda, const Version& cuda) {
  return held_to(Bound::same_major, torch_cuda, cuda);
}

} // namespace cukit::fit
