// Versions, folders and lists of targets that a log tells of. Private, but for the names of lines.
#pragma once

#include "buildlog/buildlog.hpp"

#include <optional>

namespace cukit::buildlog {

/// VersionLine::what of a folder from which pip or uv builds a package.
inline constexpr const char* k_source_folder = "pip's source folder";

/// Words that stand in such lines.
const std::vector<std::string>& version_words();
std::optional<VersionLine> version_of(std::string_view line);

/// Words that stand in lines with a list of GPU targets.
const std::vector<std::string>& target_words();
std::vector<TargetList> target_lists_of(std::string_view line);

/// Words of lines with a namespace of CCCL that carries its version.
const std::vector<std::string>& cccl_words();
/// 3.3.2 of cub::_V_300302_SM_890, 2.7.0 of cub::CUB_200700_800_NS; empty: none.
std::string cccl_namespace_of(std::string_view line);

} // namespace cukit::buildlog
