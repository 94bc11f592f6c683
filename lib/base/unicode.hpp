// Characters of UTF-8 text, and which of them a terminal obeys instead of showing.
#pragma once

#include <cstddef>
#include <string_view>

namespace cukit {

struct Character {
  char32_t value = 0;
  std::size_t bytes = 0; ///< 0: the text is empty, or does not begin with valid UTF-8
};
[[nodiscard]] Character first_character(std::string_view text);

/// C0 and C1 controls, DEL, and the characters that turn the direction of what follows or end a
/// line: text of others that holds them can hide or rewrite what is shown.
[[nodiscard]] bool is_control(char32_t value);

} // namespace cukit
