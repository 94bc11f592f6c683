// Private to draft: plain scans of text from outside, which cost what its length costs and no
// stack.
#pragma once

#include <string>
#include <string_view>

namespace cukit::draft {

/// The beginning of `text` up to the first character that `is_part` does not take.
template <class IsPart> std::string_view run_of(std::string_view text, const IsPart& is_part) {
  std::size_t count = 0;
  while (count < text.size() && is_part(text[count])) {
    ++count;
  }
  return text.substr(0, count);
}

/// Of ASCII alone, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// 13.0.88 at the beginning of `text`: `least` to `most` numbers, as many as are there; empty where
/// there are fewer.
std::string_view dotted_numbers(std::string_view text, int least, int most);

/// Calls `visit(before, behind)` with what stands before and behind each `word` in `text`, until it
/// returns true.
template <class Visit>
void each_after(std::string_view text, std::string_view word, const Visit& visit) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (visit(text.substr(0, at), text.substr(at + word.size()))) {
      return;
    }
  }
}

} // namespace cukit::draft
