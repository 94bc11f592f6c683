#include "ui/terminal.hpp"

#include "base/strings.hpp"
#include "base/unicode.hpp"
#include "ui/output.hpp"

#include <algorithm>
#include <charconv>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cukit::ui {

namespace {

constexpr int k_least_width = 40; ///< what COLUMNS may ask for
constexpr int k_most_width = 1000;

} // namespace

Terminal::Terminal(const Environment& environment, std::string_view color, int descriptor)
    : is_terminal_(::isatty(descriptor) == 1 && environment.get("TERM").value_or("dumb") != "dumb"),
      descriptor_(descriptor) {
  const auto columns = environment.get("COLUMNS").value_or("");
  std::from_chars(columns.data(), columns.data() + columns.size(), asked_width_);
  asked_width_ = asked_width_ >= k_least_width && asked_width_ <= k_most_width ? asked_width_ : 0;
  if (color == "always") {
    colored_ = true;
  } else if (color == "auto") {
    colored_ = environment.get("FORCE_COLOR").has_value() ||
               (is_terminal_ && !environment.get("NO_COLOR"));
  }
  if (colored_) {
    pass_colours(descriptor);
  }
}

int Terminal::width() const {
  winsize size{};
  if (is_terminal_ && ::ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return asked_width_ > 0 ? asked_width_ : 100;
}

std::string Terminal::paint(Style style, std::string_view text) const {
  const auto code = k_colour_codes[static_cast<std::size_t>(style)];
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

/// Words as they may be parted: not inside backticks.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool is_quoted = false;
  for (const auto raw : split_words(text)) {
    const auto word = printable(raw);
    if (is_quoted) {
      words.back() += ' ';
      words.back() += word;
    } else {
      words.emplace_back(word);
    }
    is_quoted = is_quoted != (std::count(word.begin(), word.end(), '`') % 2 == 1);
  }
  return words;
}

} // namespace

std::string flow(const Terminal& terminal, const std::vector<Piece>& pieces, std::size_t used,
                 std::size_t indent) {
  const auto width = static_cast<std::size_t>(terminal.width());
  std::string out;
  bool is_first = true;
  for (const auto& piece : pieces) {
    std::string run; // words of one style on one line are painted together
    for (const auto& word : words_of(piece.text)) {
      const auto length = characters(word);
      const bool is_broken =
          !is_first && terminal.breaks_lines() && used + 1 + length > width && used > indent;
      if (is_broken) {
        out += terminal.paint(piece.style, run) + "\n" + std::string(indent, ' ');
        run.clear();
        used = indent;
      } else if (!is_first) {
        (run.empty() ? out : run) += ' ';
        ++used;
      }
      run += word;
      used += length;
      is_first = false;
    }
    out += terminal.paint(piece.style, run);
  }
  return out;
}

std::string beginning(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  for (; width > 0 && bytes < text.size(); --width) {
    bytes += std::max<std::size_t>(first_character(text.substr(bytes)).bytes, 1);
  }
  return std::string(text.substr(0, bytes));
}

std::string some_of(const std::vector<std::string>& names, std::size_t width) {
  std::string out;
  std::size_t taken = 0;
  for (const auto& name : names) {
    const auto rest = names.size() - taken - 1;
    const auto tail = rest == 0 ? 0 : std::to_string(rest).size() + 3;
    const auto lead = out.empty() ? 0U : 2U;
    if (characters(out) + lead + characters(name) + tail <= width) {
      out += (out.empty() ? "" : ", ") + name;
      ++taken;
    }
  }
  if (taken < names.size()) {
    out += (out.empty() ? "+" : ", +") + std::to_string(names.size() - taken);
  }
  return out;
}

void Table::row(std::vector<std::string> cells, std::vector<Style> styles) {
  for (auto& cell : cells) {
    cell = printable(cell);
  }
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
    std::size_t used = indent.size();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto style = i < styles.size() ? styles[i] : Style::plain;
      const bool is_prose = terminal.breaks_lines() && i + 1 == widths.size() &&
                            used + 20 < static_cast<std::size_t>(terminal.width());
      line += is_prose ? flow(terminal, {{cells[i], style}}, used, used)
                       : terminal.paint(style, cells[i]);
      used += widths[i] + 2;
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
