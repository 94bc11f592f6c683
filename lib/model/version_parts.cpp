#include "model/version_parts.hpp"

#include <algorithm>

namespace cukit {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view strip(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(white);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(white) - first + 1);
}

std::weak_ordering compare_release(const std::vector<std::int64_t>& a,
                                   const std::vector<std::int64_t>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::int64_t left = i < a.size() ? a[i] : 0;
    const std::int64_t right = i < b.size() ? b[i] : 0;
    if (left != right) {
      return left <=> right;
    }
  }
  return std::weak_ordering::equivalent;
}

} // namespace cukit
