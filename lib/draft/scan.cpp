#include "draft/scan.hpp"

namespace cukit::draft {

std::string_view dotted_numbers(std::string_view text, int least, int most) {
  std::size_t end = 0;
  int count = 0;
  while (count < most) {
    const bool has_dot = count > 0 && text.substr(end).starts_with('.');
    if (count > 0 && !has_dot) {
      break;
    }
    const std::size_t begin = end + (has_dot ? 1 : 0);
    const auto digits = run_of(text.substr(begin), is_digit);
    if (digits.empty()) {
      break;
    }
    end = begin + digits.size();
    ++count;
  }
  return count < least ? std::string_view() : text.substr(0, end);
}

} // namespace cukit::draft
