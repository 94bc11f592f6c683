// The dialect of ini files that Python's configparser reads with its defaults, as pip uses it:
// `=` or `:` after the key, whole-line comments, indented lines continue a value, no key or section
// twice, keys in any case. Values are taken as they stand, nothing is interpolated.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <string_view>

namespace cukit::source {

struct IniValue {
  std::string text; ///< lines joined by \n
  int line = 0;
};

/// section -> key in lower case, with - for _ -> value
using Ini = std::map<std::string, std::map<std::string, IniValue>>;

Result<Ini> parse_ini(std::string_view text, const std::string& file);

} // namespace cukit::source
