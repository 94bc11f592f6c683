// A compilation target of nvcc: sm_90, sm_90a (this architecture only), sm_120f (its family).
#pragma once

#include "base/result.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace cukit {

struct GpuTarget {
  int major = 0;
  int minor = 0;
  char suffix = 0; ///< 0, 'a' or 'f'

  /// `sm_120f`, `compute_90a`, `12.0`, `12.0f`, `120a`. Whether such a GPU exists is the
  /// knowledge's business.
  static Result<GpuTarget> parse(std::string_view text);

  [[nodiscard]] std::string sm() const;      ///< sm_120f
  [[nodiscard]] std::string compute() const; ///< compute_120f
  [[nodiscard]] std::string dotted() const;  ///< 12.0f, as FlashInfer and torch spell it
  [[nodiscard]] GpuTarget plain() const { return {major, minor, 0}; }
  [[nodiscard]] int number() const { return major * 10 + minor; }
  /// Whether a cubin for this target runs on a GPU of that compute capability: plain on the same
  /// major and a minor not lower, `f` inside the family, `a` on exactly this one (CUDA programming
  /// guide; families: 10.x = 100, 103, 107; 12.x = 120, 121).
  [[nodiscard]] bool runs_on(const GpuTarget& device) const;
  auto operator<=>(const GpuTarget&) const = default;
};

} // namespace cukit
