#include "base/unicode.hpp"

namespace cukit {

Character first_character(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) {
    return {.value = byte, .bytes = 1};
  }
  std::size_t more = 0;
  char32_t value = 0;
  char32_t least = 0;
  if (byte >= 0xc2 && byte < 0xe0) {
    more = 1, value = byte & 0x1fU, least = 0x80;
  } else if (byte >= 0xe0 && byte < 0xf0) {
    more = 2, value = byte & 0x0fU, least = 0x800;
  } else if (byte >= 0xf0 && byte < 0xf5) {
    more = 3, value = byte & 0x07U, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() <= more) {
    return {};
  }
  for (std::size_t k = 1; k <= more; ++k) {
    const auto next = static_cast<unsigned char>(text[k]);
    if ((next & 0xc0U) != 0x80) {
      return {};
    }
    value = (value << 6U) | (next & 0x3fU);
  }
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
    return {};
  }
  return {.value = value, .bytes = more + 1};
}

bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7f && value < 0xa0) || value == 0x61c ||
         (value >= 0x200e && value <= 0x200f) || (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069);
}

} // namespace cukit
