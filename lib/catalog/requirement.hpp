// PEP 508 requirements with markers, evaluated for the platform of a lock, never for this machine.
#pragma once

#include "base/result.hpp"
#include "model/platform.hpp"
#include "model/version.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::catalog {

struct MarkerNode; ///< requirement.cpp

struct Requirement {
  std::string project;              ///< normalised
  std::vector<std::string> extras;  ///< of the requirement itself: name[extra]
  VersionRange range;
  std::shared_ptr<const MarkerNode> marker; ///< null: always

  static Result<Requirement> parse(std::string_view text);
  /// `extra` is the extra that is being asked for ("nvcc").
  [[nodiscard]] bool applies(Platform platform, std::string_view extra) const;
};

} // namespace cukit::catalog
