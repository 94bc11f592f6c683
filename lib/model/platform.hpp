// Where a toolkit runs: the three Linux platforms of NVIDIA's redistributables and their other
// names.
#pragma once

#include "base/result.hpp"

#include <array>
#include <compare>
#include <string_view>

namespace cukit {

class Platform {
public:
  enum class Kind { linux_x86_64, linux_sbsa, linux_aarch64 };
  constexpr Platform() = default;
  constexpr Platform(Kind kind)
      : kind_(kind) {} // NOLINT(google-explicit-constructor): a Kind is a Platform
  static Result<Platform> parse(std::string_view text);
  /// The platform of this build of cukit: x86_64, or sbsa on 64-bit Arm.
  static Platform host();
  static constexpr std::array<Kind, 3> all() {
    return {Kind::linux_x86_64, Kind::linux_sbsa, Kind::linux_aarch64};
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::string_view text() const; ///< linux-x86_64, as in redistrib JSON and manifests
  [[nodiscard]] std::string_view
  triple() const; ///< x86_64-linux, sbsa-linux, aarch64-linux: the folder under targets/
  [[nodiscard]] std::string_view
  machine() const; ///< x86_64 or aarch64: uname -m, wheel tags and markers
  auto operator<=>(const Platform&) const = default;

private:
  Kind kind_ = Kind::linux_x86_64;
};

} // namespace cukit
