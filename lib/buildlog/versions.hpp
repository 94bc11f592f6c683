// Versions and lists of targets that a log tells of. Private.
#pragma once

#include "buildlog/buildlog.hpp"

#include <optional>

namespace cukit::buildlog {

/// Words that stand in such lines.
const std::vector<std::string>& version_words();
std::optional<VersionLine> version_of(std::string_view line);

/// Words that stand in lines with a list of GPU targets.
const std::vector<std::string>& target_words();
std::vector<TargetList> target_lists_of(std::string_view line);

/// 3.3.2 of cub::_V_300302_SM_890; empty: none.
std::string cccl_namespace_of(std::string_view line);

} // namespace cukit::buildlog
