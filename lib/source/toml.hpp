// The part of TOML that configuration of package tools is written in: tables, arrays of tables,
// dotted keys, strings of all four kinds, arrays, inline tables; numbers, dates and booleans as
// text. A key twice is an error with its line.
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
  std::vector<std::pair<std::string, TomlValue>> members = {};
  bool closed = false; ///< written as one value: may not be opened again
  bool headed = false; ///< has a [header] of its own

  [[nodiscard]] const TomlValue* find(std::string_view key) const;
};

Result<TomlValue> parse_toml(std::string_view text, const std::string& file);

} // namespace cukit::source
