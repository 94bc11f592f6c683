// Which of many literal words a text holds: one pass over its bytes, whatever the words. Private.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::buildlog {

class Keywords {
public:
  /// Words are told by their place in the list; empty ones are never found.
  explicit Keywords(const std::vector<std::string>& words);
  /// Appends the index of each word that stands in the text, each once, in no order.
  void find(std::string_view text, std::vector<std::uint32_t>& found);

private:
  void build(const std::vector<std::string>& words);
  void note(std::uint32_t state, std::vector<std::uint32_t>& found);

  std::array<std::uint8_t, 256> classes_{};
  std::uint32_t class_count_ = 1; ///< 0: in no word
  std::vector<std::uint32_t>
      next_; ///< (state * classes + class) -> next state's row; bit 0: a word ends
  std::vector<std::vector<std::uint32_t>> ends_; ///< by state
  std::vector<std::uint64_t> seen_;              ///< by word: the call in which it was found last
  std::uint64_t call_ = 0;
};

} // namespace cukit::buildlog
