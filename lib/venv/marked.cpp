#include "venv/marked.hpp"

namespace cukit::venv {

namespace {

constexpr std::string_view k_no_end = " (the line before had no end)";

std::string first_mark(Marks marks, bool had_end = true) {
  return fmt::format("# >>> cukit venv {}{} >>>\n", marks.what, had_end ? "" : k_no_end);
}

std::string last_mark(Marks marks) {
  return fmt::format("# <<< cukit venv {} <<<\n", marks.what);
}

struct Found {
  std::size_t begin = 0;       ///< of the first mark, or of the line end that was added before it
  std::size_t lines_begin = 0; ///< behind the first mark
  std::size_t lines_end = 0;   ///< of the last mark
  std::size_t end = 0;         ///< behind it
};

/// Where `line` stands at the beginning of a line.
std::size_t find_line(std::string_view text, std::string_view line, std::size_t from) {
  for (auto at = text.find(line, from); at != std::string_view::npos;
       at = text.find(line, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') {
      return at;
    }
  }
  return std::string_view::npos;
}

Result<std::optional<Found>> find(std::string_view text, Marks marks, const std::string& file) {
  Found found;
  bool had_end = true;
  auto mark = first_mark(marks);
  auto begin = find_line(text, mark, 0);
  if (begin == std::string_view::npos) {
    had_end = false;
    mark = first_mark(marks, had_end);
    begin = find_line(text, mark, 0);
  }
  const auto last = last_mark(marks);
  const auto end = find_line(text, last, begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos && end == std::string_view::npos) {
    return std::optional<Found>();
  }
  if (begin == std::string_view::npos || end == std::string_view::npos) {
    return tl::unexpected<Error>(Error{
        .code = ErrorCode::host,
        .message = fmt::format("in {} one of the two lines `cukit venv {}` is gone: where its "
                               "part ends cannot be told",
                               file, marks.what),
        .where = file,
        .hint = "take the lines that are cukit's out by hand, with the mark that is left"});
  }
  found.begin = had_end || begin == 0 ? begin : begin - 1;
  found.lines_begin = begin + mark.size();
  found.lines_end = end;
  found.end = end + last.size();
  return std::optional(found);
}

} // namespace

Result<std::optional<std::string>> marked_lines(std::string_view text, Marks marks,
                                                const std::string& file) {
  CUKIT_TRY_ASSIGN(const auto found, find(text, marks, file));
  if (!found) {
    return std::optional<std::string>();
  }
  return std::optional(
      std::string(text.substr(found->lines_begin, found->lines_end - found->lines_begin)));
}

Result<std::string> without_marked(std::string_view text, Marks marks, const std::string& file) {
  CUKIT_TRY_ASSIGN(const auto found, find(text, marks, file));
  if (!found) {
    return std::string(text);
  }
  return std::string(text.substr(0, found->begin)) + std::string(text.substr(found->end));
}

std::string marked(std::string_view lines, Marks marks) {
  return first_mark(marks) + std::string(lines) + last_mark(marks);
}

std::string with_marked_at_end(std::string_view text, std::string_view lines, Marks marks) {
  const bool has_end = text.empty() || text.ends_with('\n');
  return std::string(text) + (has_end ? "" : "\n") + first_mark(marks, has_end) +
         std::string(lines) + last_mark(marks);
}

} // namespace cukit::venv
