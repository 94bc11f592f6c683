// What is known of the place that text goes to: a terminal or not, its width, colours or not.
#pragma once

#include "base/environment.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::ui {

enum class Style { plain, bold, dim, good, bad, warn, accent };

/// Of each style, in their order, and of the end of one: what stands between ESC [ and m.
inline constexpr std::array<std::string_view, 8> k_colour_codes{"",     "1",  "2",  "32",
                                                                "31;1", "33", "36", "0"};

class Terminal {
public:
  Terminal(const Environment& environment, std::string_view color, int descriptor);
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  [[nodiscard]] int width() const; ///< columns now; of no terminal COLUMNS, else 100
  /// Prose is broken into lines of that width: on terminals, and where COLUMNS asks for it. What is
  /// piped stays as it is, so that grep finds it.
  [[nodiscard]] bool breaks_lines() const { return is_terminal_ || asked_width_ > 0; }
  [[nodiscard]] std::string paint(Style style, std::string_view text) const;

private:
  bool is_terminal_ = false;
  bool colored_ = false;
  int asked_width_ = 0;
  int descriptor_ = 2;
};

struct Piece {
  std::string text;
  Style style = Style::plain;
};

/// Pieces one after the other as prose that follows `used` columns of its first line; further lines
/// begin with `indent` spaces. What stands in backticks is not broken: people copy it.
std::string flow(const Terminal& terminal, const std::vector<Piece>& pieces, std::size_t used,
                 std::size_t indent);

/// The first `width` characters, never a part of one.
std::string beginning(std::string_view text, std::size_t width);

/// The names that fit into `width` columns, in their order, and how many were left out: "A40, A10,
/// +10". Longer ones are passed over for those that fit.
std::string some_of(const std::vector<std::string>& names, std::size_t width);

/// Columns of text aligned by spaces; the width counts characters, not bytes, and no colour codes.
/// The last column is prose: where lines are broken, it goes on below itself. Controls in a cell
/// are spelled out before its width is counted.
class Table {
public:
  void row(std::vector<std::string> cells, std::vector<Style> styles = {});
  [[nodiscard]] std::string print(const Terminal& terminal, std::string_view indent = "  ") const;

private:
  std::vector<std::pair<std::vector<std::string>, std::vector<Style>>> rows_;
};

} // namespace cukit::ui
