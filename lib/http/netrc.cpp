#include "http/netrc.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::http {

namespace {

/// Takes the next word of a line, which may stand in quotes.
std::string next_word(std::string_view& line) {
  line = trim(line);
  if (!line.starts_with('"')) {
    const auto word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    return std::string(word);
  }
  std::string word;
  std::size_t at = 1;
  for (; at < line.size() && line[at] != '"'; ++at) {
    at += line[at] == '\\' && at + 1 < line.size() ? 1 : 0;
    word += line[at];
  }
  line.remove_prefix(std::min(at + 1, line.size()));
  return word;
}

} // namespace

Netrc::Netrc(std::string_view text) {
  bool is_macro = false; // up to an empty line
  bool is_value = false; // the next word is the value of the one before
  bool is_host = false;
  for (auto line : split(text, '\n')) {
    line = trim(line);
    is_macro = is_macro && !line.empty();
    if (is_macro || line.starts_with('#')) {
      continue;
    }
    while (!(line = trim(line)).empty()) {
      const auto word = next_word(line);
      if (is_value) {
        if (is_host) {
          machines_.insert(lower(word));
        }
        is_value = is_host = false;
        continue;
      }
      const auto key = lower(word);
      if (key == "default") {
        return;
      }
      is_host = key == "machine";
      is_macro = is_macro || key == "macdef";
      is_value =
          is_host || key == "login" || key == "password" || key == "account" || key == "macdef";
    }
  }
}

bool Netrc::names(const std::string& host) const {
  return machines_.contains(lower(host));
}

} // namespace cukit::http
