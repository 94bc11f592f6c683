// What one place (environment, uv's configuration, pip's configuration) states about sources.
#pragma once

#include "source/source.hpp"

#include <optional>

namespace cukit::source {

struct Stated {
  std::optional<Address> index; ///< the main one
  std::vector<Address> extra;
  std::vector<Address> find_links;
  std::optional<bool> no_index;
  std::string no_index_by;
  std::vector<std::string> notes;
};

/// Turns what a person wrote into an address: http and https URLs stay, file: URLs and paths become
/// absolute folders; relative ones are relative to `base`.
Result<Address> address(std::string_view text, std::string origin, const fs::path& base);

/// What relative paths of options and variables are relative to; / when it was removed.
fs::path working_folder();

/// Python's words for yes and no; nothing when it is neither.
std::optional<bool> truth(std::string_view text);

/// An absolute path as it lies in another root folder.
fs::path below(const fs::path& root, const fs::path& path);

} // namespace cukit::source
