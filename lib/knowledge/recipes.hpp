// Where the recipe files are: inside the binary, or in a folder.
#pragma once

#include "base/files.hpp"

#include <optional>

namespace cukit::knowledge {

class Recipes {
public:
  Recipes() = default; ///< those inside the binary
  explicit Recipes(fs::path folder) : folder_(std::move(folder)) {}

  /// How a file is named in messages.
  [[nodiscard]] std::string display(const std::string& path) const;
  [[nodiscard]] Result<std::string> read(const std::string& path) const;
  /// Paths of all files below `folder`, relative to recipes/, sorted.
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const;

private:
  std::optional<fs::path> folder_;
};

} // namespace cukit::knowledge
