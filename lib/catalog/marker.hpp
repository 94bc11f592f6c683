// The marker of a PEP 508 requirement: what stands after the semicolon.
#pragma once

#include "base/result.hpp"
#include "model/platform.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::catalog {

/// A comparison, or `and` and `or` over other nodes.
struct MarkerNode {
  enum class Kind { compare, all, any };
  Kind kind = Kind::compare;
  std::vector<MarkerNode> parts = {}; ///< of all and any
  /// Of a comparison: one side is a variable, the other a text (or both are variables).
  struct Side {
    bool variable = false;
    std::string text = {};
  };
  Side left = {};
  Side right = {};
  std::string op = {};
};

Result<std::shared_ptr<const MarkerNode>> parse_marker(std::string_view text);
bool holds(const MarkerNode& marker, Platform platform, std::string_view extra);

} // namespace cukit::catalog
