#include "text/yaml_write.hpp"

#include "base/strings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cukit::text {

namespace {

constexpr std::string_view k_safe =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";

/// Words that some YAML reader takes for something else than text.
bool is_ambiguous(std::string_view text) {
  const std::string word = lower(text);
  constexpr std::string_view words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words) ||
         word.find_first_not_of("0123456789.e_+-x") == std::string::npos;
}

/// The bytes of the character that begins `text`.
std::size_t length_of(std::string_view text) {
  const auto is_next = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; };
  std::size_t length = 1;
  while (length < text.size() && is_next(text[length])) {
    ++length;
  }
  return length;
}

unsigned code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  unsigned value = character.size() == 1 ? first : first & (0x7fU >> character.size());
  for (const char c : character.substr(1)) {
    value = (value << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  }
  return value;
}

} // namespace

std::string yaml_quoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const auto character = text.substr(0, length_of(text));
    text.remove_prefix(character.size());
    if (character == "\"" || character == "\\") {
      result += '\\';
    }
    if (printable(character) == character) {
      result += character;
    } else if (character.size() == 1) {
      result += fmt::format("\\x{:02x}", code_point(character));
    } else {
      result += fmt::format("\\U{:08x}", code_point(character));
    }
  }
  return result + '"';
}

std::string yaml_item(std::string_view text) {
  const bool is_plain = !text.empty() && text.find_first_not_of(k_safe) == std::string_view::npos &&
                        text.front() != '-' && !is_ambiguous(text);
  return is_plain ? std::string(text) : yaml_quoted(text);
}

std::string yaml_scalar(std::string_view text) {
  for (const auto word : split(text, ' ')) {
    if (word.empty() || word.find_first_not_of(k_safe) != std::string_view::npos) {
      return yaml_quoted(text);
    }
  }
  return text.front() == '-' || is_ambiguous(text) ? yaml_quoted(text) : std::string(text);
}

std::string yaml_list(const std::vector<std::string>& items) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  std::transform(items.begin(), items.end(), std::back_inserter(texts), yaml_item);
  return "[" + join(texts, ", ") + "]";
}

} // namespace cukit::text
