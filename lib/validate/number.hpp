// Numbers as programs print them and recipes write them, whatever the locale.
#pragma once

#include <optional>
#include <string_view>

namespace cukit::validate {

/// The whole text as a number; `nan` and `inf` are numbers too.
std::optional<double> parse_number(std::string_view text);

} // namespace cukit::validate
