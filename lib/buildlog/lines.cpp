#include "buildlog/lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace cukit::buildlog {

namespace {

std::size_t digits(std::string_view text, std::size_t from = 0) {
  std::size_t count = 0;
  while (from + count < text.size() && is_digit(text[from + count])) {
    ++count;
  }
  return count;
}

void skip_space(std::string_view& text) {
  const auto at = text.find_first_not_of(" \t");
  text.remove_prefix(at == std::string_view::npos ? text.size() : at);
}

/// 2026-01-02T03:04:05.678Z, 2026-01-02 03:04:05,678, [03:04:05]
bool skip_time(std::string_view& text) {
  std::size_t at = text.starts_with('[') ? 1 : 0;
  const bool is_date = digits(text, at) == 4 && at + 10 < text.size() && text[at + 4] == '-' &&
                       digits(text, at + 5) == 2 && text[at + 7] == '-';
  if (is_date) {
    at += 10;
    if (text[at] != 'T' && text[at] != ' ') {
      return false;
    }
    ++at;
  }
  if (digits(text, at) != 2 || at + 8 > text.size() || text[at + 2] != ':' ||
      digits(text, at + 3) != 2 || text[at + 5] != ':' || digits(text, at + 6) != 2) {
    return false;
  }
  at += 8;
  if (at < text.size() && (text[at] == '.' || text[at] == ',')) {
    at += 1 + digits(text, at + 1);
  }
  at += at < text.size() && text[at] == 'Z' ? 1U : 0U;
  at += at < text.size() && text[at] == ']' ? 1U : 0U;
  if (at < text.size() && text[at] != ' ') {
    return false;
  }
  text.remove_prefix(at);
  return true;
}

/// #12 3.456 of a container build
bool skip_step(std::string_view& text) {
  if (!text.starts_with('#')) {
    return false;
  }
  const auto number = digits(text, 1);
  if (number == 0 || number > 4 || 1 + number >= text.size() || text[1 + number] != ' ') {
    return false;
  }
  auto rest = text.substr(2 + number);
  const auto seconds = digits(rest);
  if (seconds > 0 && seconds < rest.size() && rest[seconds] == '.') {
    const auto parts = digits(rest, seconds + 1);
    const auto end = seconds + 1 + parts;
    if (parts > 0 && end < rest.size() && rest[end] == ' ') {
      rest.remove_prefix(end + 1);
    }
  }
  text = rest;
  return true;
}

/// [rank0]:  (EngineCore_0 pid=12)  [stderr]
bool skip_bracket(std::string_view& text) {
  if (!text.starts_with('[') && !text.starts_with('(')) {
    return false;
  }
  const auto end = text.substr(0, 60).find(text.front() == '[' ? ']' : ')');
  if (end == std::string_view::npos) {
    return false;
  }
  const auto inside = text.substr(1, end - 1);
  const bool is_known = inside.starts_with("rank") || inside.find("pid=") != std::string::npos ||
                        inside == "stderr" || inside == "stdout";
  if (!is_known) {
    return false;
  }
  text.remove_prefix(end + 1);
  text.remove_prefix(text.starts_with(':') ? 1 : 0);
  return true;
}

bool skip_mark(std::string_view& text) {
  constexpr std::array<std::string_view, 12> marks = {"| ",
                                                      "> ",
                                                      "= note: ",
                                                      "\xe2\x94\x82 ",
                                                      "\xc3\x97 ",
                                                      "\xe2\x95\xb0\xe2\x94\x80\xe2\x96\xb6 ",
                                                      "\xe2\x94\x9c\xe2\x94\x80\xe2\x96\xb6 ",
                                                      "|-> ",
                                                      "`-> ",
                                                      "cargo:warning=",
                                                      "x ",
                                                      "cause: "};
  for (const auto mark : marks) {
    if (text.starts_with(mark)) {
      text.remove_prefix(mark.size());
      return true;
    }
  }
  return false;
}

} // namespace

void LineCutter::keep(std::string_view part) {
  is_open_ = true;
  if (head_.size() < k_head_bytes) {
    const auto take = std::min(part.size(), k_head_bytes - head_.size());
    head_.append(part.substr(0, take));
    part.remove_prefix(take);
  }
  if (part.size() >= k_tail_bytes) {
    tail_.assign(part.substr(part.size() - k_tail_bytes));
  } else if (!part.empty()) {
    tail_.append(part);
    if (tail_.size() > 8 * k_tail_bytes) {
      tail_.erase(0, tail_.size() - k_tail_bytes);
    }
  }
}

std::string_view LineCutter::joined() {
  if (tail_.size() > k_tail_bytes) {
    tail_.erase(0, tail_.size() - k_tail_bytes);
  }
  head_ += tail_;
  return head_;
}

void LineCutter::clear() {
  head_.clear();
  tail_.clear();
  is_open_ = false;
}

std::string_view without_escapes(std::string_view line, std::string& buffer) {
  while (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  if (const auto back = line.rfind('\r'); back != std::string_view::npos) {
    line.remove_prefix(back + 1);
  }
  if (line.find('\x1b') == std::string_view::npos) {
    return line;
  }
  buffer.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      buffer.push_back(line[i]);
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') { // ESC [ parameters letter
      i += 2;
      while (i < line.size() && (is_digit(line[i]) || line[i] == ';' || line[i] == '?')) {
        ++i;
      }
    } else if (i + 1 < line.size()) {
      ++i;
    }
  }
  return buffer;
}

std::string_view without_prefix(std::string_view line) {
  for (int round = 0; round < 8; ++round) {
    skip_space(line);
    if (!skip_time(line) && !skip_step(line) && !skip_bracket(line) && !skip_mark(line)) {
      break;
    }
  }
  return line;
}

std::string plain_quotes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto rest = text.substr(i);
    if (rest.starts_with("\xe2\x80\x98") || rest.starts_with("\xe2\x80\x99") ||
        rest.starts_with("\xe2\x80\x9c") || rest.starts_with("\xe2\x80\x9d")) {
      plain.push_back('\'');
      i += 2;
    } else {
      plain.push_back(text[i] == '`' || text[i] == '"' ? '\'' : text[i]);
    }
  }
  while (!plain.empty() && (plain.back() == ' ' || plain.back() == '\t')) {
    plain.pop_back();
  }
  return plain;
}

} // namespace cukit::buildlog
