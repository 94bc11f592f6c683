#include "catalog/html_links.hpp"

#include "base/strings.hpp"

#include <charconv>
#include <utility>

namespace cukit::catalog {

namespace {

constexpr std::string_view k_white = " \t\r\n\f";

void append_utf8(std::string& text, unsigned value) {
  if (value < 0x80) {
    text += static_cast<char>(value);
    return;
  }
  int more = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  static constexpr unsigned leads[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(leads[more] | (value >> static_cast<unsigned>(6 * more)));
  while (more-- > 0) {
    text += static_cast<char>(0x80U | ((value >> static_cast<unsigned>(6 * more)) & 0x3fU));
  }
}

/// `name` is what stands between & and ;
bool append_entity(std::string& text, std::string_view name) {
  static constexpr std::pair<std::string_view, char> named[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [word, character] : named) {
    if (name == word) {
      text += character;
      return true;
    }
  }
  if (name.size() < 2 || name.front() != '#') {
    return false;
  }
  const bool hex = name[1] == 'x' || name[1] == 'X';
  name.remove_prefix(hex ? 2 : 1);
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), value, hex ? 16 : 10);
  const bool valid = error == std::errc() && end == name.data() + name.size() && !name.empty() &&
                     value <= 0x10ffff && (value < 0xd800 || value > 0xdfff) && value != 0;
  if (valid) {
    append_utf8(text, value);
  }
  return valid;
}

using Attributes = std::vector<std::pair<std::string, std::string>>;

class HtmlScanner {
public:
  explicit HtmlScanner(std::string_view text) : rest_(text) {}

  HtmlPage read() {
    while (next_tag()) {
      const auto name = lower(take_until(" \t\r\n\f/>"));
      const auto attributes = read_attributes();
      if (name == "a") {
        add_link(attributes);
      } else if (name == "base" && page_.base.empty()) {
        page_.base = value(attributes, "href").value_or("");
      } else if (name == "script" || name == "style") {
        skip_raw(name);
      }
    }
    return std::move(page_);
  }

private:
  /// Stands behind the < of the next tag that opens something; comments are passed over.
  bool next_tag() {
    while (true) {
      const auto open = rest_.find('<');
      if (open == std::string_view::npos) {
        return false;
      }
      rest_.remove_prefix(open + 1);
      if (!rest_.starts_with("!--")) {
        return true;
      }
      skip_past("-->");
    }
  }
  void skip_past(std::string_view word) {
    const auto at = rest_.find(word);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + word.size());
  }
  /// The content of a script is no HTML: up to its own end tag.
  void skip_raw(const std::string& name) {
    const std::string end = "/" + name;
    while (!rest_.empty()) {
      skip_past("<");
      if (lower(rest_.substr(0, end.size())) == end) {
        return;
      }
    }
  }
  std::string_view take_until(std::string_view stops) {
    const auto word = rest_.substr(0, rest_.find_first_of(stops));
    rest_.remove_prefix(word.size());
    return word;
  }

  Attributes read_attributes() {
    Attributes result;
    while (true) {
      const auto blank = rest_.find_first_not_of(" \t\r\n\f/");
      rest_.remove_prefix(blank == std::string_view::npos ? rest_.size() : blank);
      if (rest_.empty() || rest_.front() == '>') {
        return result;
      }
      std::string name = lower(take_until(" \t\r\n\f/>="));
      if (name.empty()) { // a stray =
        rest_.remove_prefix(1);
        continue;
      }
      skip_white();
      std::string text;
      if (rest_.starts_with('=')) {
        rest_.remove_prefix(1);
        skip_white();
        text = attribute_value();
      }
      result.emplace_back(std::move(name), std::move(text));
    }
  }
  void skip_white() {
    const auto at = rest_.find_first_not_of(k_white);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }
  std::string attribute_value() {
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
      const char quote = rest_.front();
      rest_.remove_prefix(1);
      const auto text = rest_.substr(0, rest_.find(quote));
      rest_.remove_prefix(text.size() == rest_.size() ? text.size() : text.size() + 1);
      return unescape_html(text);
    }
    return unescape_html(take_until(" \t\r\n\f>"));
  }

  /// As browsers do, the first of several attributes with one name counts.
  static std::optional<std::string> value(const Attributes& attributes, std::string_view name) {
    for (const auto& [key, text] : attributes) {
      if (key == name) {
        return text;
      }
    }
    return std::nullopt;
  }
  void add_link(const Attributes& attributes) {
    if (auto href = value(attributes, "href")) {
      page_.links.push_back({std::string(trim(*href)), value(attributes, "data-yanked"),
                             value(attributes, "data-size").value_or("")});
    }
  }

  std::string_view rest_;
  HtmlPage page_;
};

} // namespace

HtmlPage read_html(std::string_view text) {
  return HtmlScanner(text).read();
}

std::string unescape_html(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto ampersand = text.find('&');
    result += text.substr(0, ampersand);
    if (ampersand == std::string_view::npos) {
      return result;
    }
    text.remove_prefix(ampersand + 1);
    const auto end = text.substr(0, 12).find(';'); // the longest here is &#x10FFFF;
    if (end != std::string_view::npos && append_entity(result, text.substr(0, end))) {
      text.remove_prefix(end + 1);
    } else {
      result += '&';
    }
  }
  return result;
}

} // namespace cukit::catalog
