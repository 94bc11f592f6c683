// Bytes to lines, and a line without what terminals, containers and CI systems put before it.
// Private.
#pragma once

#include <string>
#include <string_view>

namespace cukit::buildlog {

constexpr auto k_none = std::string_view::npos;
/// Of ASCII alone, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr std::size_t k_head_bytes = 64U << 10U; ///< kept of a line's beginning
constexpr std::size_t k_tail_bytes = 4U << 10U;  ///< and of its end, when it is longer

/// Cuts pieces into lines. `visit(line, number)` is called for each; a line that lies in one piece
/// is not copied.
class LineCutter {
public:
  template <class Visit> void feed(std::string_view piece, const Visit& visit) {
    while (!piece.empty()) {
      const auto end = piece.find('\n');
      if (end == std::string_view::npos) {
        keep(piece);
        return;
      }
      const auto part = piece.substr(0, end);
      piece.remove_prefix(end + 1);
      ++number_;
      if (!is_open_ && part.size() <= k_head_bytes + k_tail_bytes) {
        visit(part, number_);
        continue;
      }
      keep(part);
      visit(joined(), number_);
      clear();
    }
  }
  template <class Visit> void finish(const Visit& visit) {
    if (is_open_) {
      ++number_;
      visit(joined(), number_);
      clear();
    }
  }
  [[nodiscard]] std::size_t count() const { return number_; }

private:
  void keep(std::string_view part);
  std::string_view joined(); ///< head and tail of what was kept
  void clear();

  std::string head_;
  std::string tail_;
  std::size_t number_ = 0;
  bool is_open_ = false;
};

/// Without colours, and what stands before the last carriage return.
std::string_view without_escapes(std::string_view line, std::string& buffer);
/// Without time stamps, `#12 3.45 `, `| `, `[rank0]: ` and white space in front.
std::string_view without_prefix(std::string_view line);
/// Typographic and backward quotes become '.
std::string plain_quotes(std::string_view text);

} // namespace cukit::buildlog
