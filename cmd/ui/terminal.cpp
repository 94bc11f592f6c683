#include "ui/terminal.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cukit::ui {

Terminal::Terminal(const Environment& environment, std::string_view color, int descriptor)
    : is_terminal_(::isatty(descriptor) == 1 && environment.get("TERM").value_or("dumb") != "dumb"),
      descriptor_(descriptor) {
  if (color == "always") {
    colored_ = true;
  } else if (color == "auto") {
    colored_ = environment.get("FORCE_COLOR").has_value() ||
               (is_terminal_ && !environment.get("NO_COLOR"));
  }
}

int Terminal::width() const {
  winsize size{};
  if (is_terminal_ && ::ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 100;
}

std::string Terminal::paint(Style style, std::string_view text) const {
  static constexpr std::string_view codes[] = {"", "1", "2", "32", "31;1", "33", "36"};
  const auto code = codes[static_cast<std::size_t>(style)];
  if (!colored_ || code.empty() || text.empty()) {
    return std::string(text);
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
  }));
}

} // namespace

void Table::row(std::vector<std::string> cells, std::vector<Style> styles) {
  rows_.emplace_back(std::move(cells), std::move(styles));
}

std::string Table::print(const Terminal& terminal, std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const auto& [cells, styles] : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], characters(cells[i]));
    }
  }
  std::string out;
  for (const auto& [cells, styles] : rows_) {
    std::string line(indent);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += terminal.paint(i < styles.size() ? styles[i] : Style::plain, cells[i]);
      if (i + 1 < cells.size()) {
        line.append(widths[i] - characters(cells[i]) + 2, ' ');
      }
    }
    while (line.ends_with(' ')) {
      line.pop_back();
    }
    out += line + "\n";
  }
  return out;
}

} // namespace cukit::ui
