#include "text/yaml_source.hpp"

#include "base/strings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cukit::text {

namespace {

constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// `- item`, `key: value` or `? key`: what makes a line a part of a block.
bool looks_like_block(std::string_view content) {
  return content.starts_with("- ") || content.starts_with("? ") || content == "-" ||
         content.ends_with(':') || content.find(": ") != std::string_view::npos;
}

} // namespace

YamlSource::YamlSource(std::string_view text) : text_(text) {
  if (text_.starts_with(k_byte_order_mark)) {
    text_.remove_prefix(k_byte_order_mark.size());
  }
  line_starts_.push_back(0);
  for (auto end = text_.find('\n'); end != std::string_view::npos;
       end = text_.find('\n', end + 1)) {
    line_starts_.push_back(end + 1);
  }
}

Position YamlSource::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto start = static_cast<std::ptrdiff_t>(*(next - 1));
  const auto continuations = std::count_if(
      text_.begin() + start, text_.begin() + static_cast<std::ptrdiff_t>(offset), is_continuation);
  return {.line = static_cast<int>(next - line_starts_.begin()),
          .column =
              static_cast<int>(static_cast<std::ptrdiff_t>(offset) - start - continuations) + 1};
}

std::optional<YamlSource::Fault> YamlSource::first_fault() const {
  if (const auto offset = first_invalid_utf8(text_); offset != std::string_view::npos) {
    return Fault{position(offset),
                 fmt::format("not UTF-8: byte 0x{:02x} at offset {}",
                             static_cast<unsigned char>(text_[offset]), offset),
                 "save the file as UTF-8"};
  }
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text_[i]);
    const bool line_end = byte == '\n' || (byte == '\r' && at(i + 1) == '\n');
    if (line_end || byte == '\t' || (byte >= 0x20 && byte != 0x7f)) {
      continue;
    }
    if (byte == '\r') {
      return Fault{position(i), "a carriage return without a line feed",
                   "save the file with LF or CRLF line ends"};
    }
    return Fault{position(i), fmt::format("control character 0x{:02x} at offset {}", byte, i),
                 "this looks like a binary file; remove the character"};
  }
  return std::nullopt;
}

std::optional<YamlSource::Fault> YamlSource::tab_indentation(bool parsed) const {
  for (const auto start : line_starts_) {
    const auto line = text_.substr(start, text_.find('\n', start) - start);
    const auto content = trim(line);
    const auto tab = line.find('\t');
    const bool in_front = tab != std::string_view::npos && tab < line.find_first_not_of(" \t\r");
    if (!in_front || content.empty() || content.front() == '#') {
      continue;
    }
    if (!parsed || (tab == 0 && looks_like_block(content))) {
      return Fault{position(start + tab), "a tab is used as indentation", "indent with spaces"};
    }
  }
  return std::nullopt;
}

bool YamlSource::quote_is_closed(std::size_t offset) const {
  const char quote = at(offset);
  if (quote != '"' && quote != '\'') {
    return true;
  }
  for (std::size_t i = offset + 1; i < text_.size(); ++i) {
    if (quote == '"' && text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      if (quote == '"' || at(i + 1) != '\'') {
        return true;
      }
      ++i; // '' is one quote inside the text
    }
  }
  return false;
}

} // namespace cukit::text
