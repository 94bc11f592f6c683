// Configuration files of package tools in TOML, read by toml++: values with their lines; numbers,
// dates and truth values as text.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::source {

struct TomlValue {
  enum class Kind { text, bare, list, table };
  Kind kind = Kind::table;
  int line = 0;
  std::string text = {}; ///< of a string, or of a bare word: true, 12, 1979-05-27
  std::vector<TomlValue> items = {};
  std::vector<std::pair<std::string, TomlValue>> members = {}; ///< sorted by key

  [[nodiscard]] const TomlValue* find(std::string_view key) const;
};

Result<TomlValue> parse_toml(std::string_view text, const std::string& file);

} // namespace cukit::source
