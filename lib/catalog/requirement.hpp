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

struct MarkerNode; ///< marker.hpp

struct Requirement {
  std::string project;             ///< normalised
  std::vector<std::string> extras; ///< of the requirement itself: name[extra]
  VersionRange range;
  std::shared_ptr<const MarkerNode> marker; ///< null: always

  /// A requirement on a URL is refused: nothing that pins a release may name a place.
  static Result<Requirement> parse(std::string_view text);
  /// `extra` is the extra that is being asked for ("nvcc"). Python counts as CPython 3.12: the
  /// toolkit is no Python code, so no marker on it may change the answer from machine to machine.
  [[nodiscard]] bool applies(Platform platform, std::string_view extra) const;
};

} // namespace cukit::catalog
