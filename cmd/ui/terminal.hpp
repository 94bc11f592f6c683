// What is known of the place the talk goes to (standard error): a terminal or not, its width,
// colours or not.
#pragma once

#include "base/environment.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::ui {

enum class Style { plain, bold, dim, good, bad, warn, accent };

class Terminal {
public:
  Terminal(const Environment& environment, std::string_view color, int descriptor);
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  [[nodiscard]] int width() const; ///< columns now; 100 when it is no terminal
  [[nodiscard]] std::string paint(Style style, std::string_view text) const;

private:
  bool is_terminal_ = false;
  bool colored_ = false;
  int descriptor_ = 2;
};

/// Columns of text aligned by spaces; the width counts characters, not bytes, and no colour codes.
class Table {
public:
  void row(std::vector<std::string> cells, std::vector<Style> styles = {});
  [[nodiscard]] std::string print(const Terminal& terminal, std::string_view indent = "  ") const;

private:
  std::vector<std::pair<std::vector<std::string>, std::vector<Style>>> rows_;
};

} // namespace cukit::ui
