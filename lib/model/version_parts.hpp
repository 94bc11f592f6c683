// What reading and comparing versions and ranges share; private to this module.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cukit {

bool is_digit(char c);
/// PEP 440 lets every ASCII white space stand around a version, form feeds too.
std::string_view strip(std::string_view text);
/// Part by part, missing ones being 0.
std::weak_ordering compare_release(const std::vector<std::int64_t>& a,
                                   const std::vector<std::int64_t>& b);

} // namespace cukit
