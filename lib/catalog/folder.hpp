// A folder as an index or as find-links: wheels in it, or in folders named after their projects.
#pragma once

#include "base/files.hpp"
#include "catalog/catalog.hpp"

#include <stop_token>

namespace cukit::catalog {

/// A mirror may be made of links: they count as what they lead to.
bool is_file(const fs::path& path);

/// The wheels of one project, by version and name, without digests.
Result<std::vector<WheelFile>> wheels_in_folder(const fs::path& folder, const std::string& project);

/// The paths at which a file of that name lies.
std::vector<fs::path> find_in_folder(const fs::path& folder, const std::string& file);

/// Gives each wheel the digest of its bytes, several at once.
Result<void> hash_wheels(std::vector<WheelFile>& wheels, const std::stop_token& stop);

} // namespace cukit::catalog
