#include "source/toml.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::source {

namespace {

constexpr int k_depth = 32;

bool is_bare(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}

void append_utf8(std::string& text, unsigned value) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80U | ((value >> shift) & 0x3fU));
  };
  if (value < 0x80) {
    text += static_cast<char>(value);
  } else if (value < 0x800) {
    text += static_cast<char>(0xc0U | (value >> 6U));
    tail(0);
  } else if (value < 0x10000) {
    text += static_cast<char>(0xe0U | (value >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | (value >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

class TomlReader {
public:
  TomlReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  Result<TomlValue> document() {
    TomlValue root;
    TomlValue* current = &root;
    while (skip_blank(), !rest_.empty()) {
      if (rest_.front() == '[') {
        CUKIT_TRY_ASSIGN(current, header(root));
      } else {
        CUKIT_TRY(member(*current, 0));
      }
      CUKIT_TRY(end_of_line());
    }
    return root;
  }

private:
  tl::unexpected<Error> wrong(std::string message) const {
    Error error{.code = ErrorCode::source, .message = std::move(message)};
    error.where = fmt::format("{}:{}", file_, line_);
    error.hint = "uv refuses this file too; mend it, or name the index with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }

  void advance(std::size_t count) {
    line_ +=
        static_cast<int>(std::count(rest_.begin(), rest_.begin() + static_cast<long>(count), '\n'));
    rest_.remove_prefix(count);
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) {
      return false;
    }
    advance(word.size());
    return true;
  }
  void skip_spaces() { advance(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  void skip_blank() {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        advance(std::min(rest_.find('\n'), rest_.size()));
      } else if (std::string_view(" \t\r\n").find(rest_.front()) != std::string_view::npos) {
        advance(1);
      } else {
        return;
      }
    }
  }
  Result<void> end_of_line() {
    skip_spaces();
    if (!rest_.empty() && rest_.front() == '#') {
      advance(std::min(rest_.find('\n'), rest_.size()));
    }
    take("\r");
    if (!rest_.empty() && !take("\n")) {
      return wrong("something follows the value on the same line");
    }
    return {};
  }

  Result<std::vector<std::string>> dotted_key() {
    std::vector<std::string> parts;
    do {
      skip_spaces();
      if (rest_.starts_with('"') || rest_.starts_with('\'')) {
        CUKIT_TRY_ASSIGN(auto part, quoted());
        parts.push_back(std::move(part));
      } else {
        const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_bare);
        const auto size = static_cast<std::size_t>(end - rest_.begin());
        if (size == 0) {
          return wrong("a key is missing");
        }
        parts.emplace_back(rest_.substr(0, size));
        advance(size);
      }
      skip_spaces();
    } while (take("."));
    if (parts.size() > k_depth) {
      return wrong("a key has too many parts");
    }
    return parts;
  }

  /// The table `key` inside `table`, made when it is missing; the last one of an array of tables.
  Result<TomlValue*> open(TomlValue& table, const std::string& key) {
    for (auto& [name, value] : table.members) {
      if (name != key) {
        continue;
      }
      if (value.kind == TomlValue::Kind::list && !value.items.empty() && !value.closed) {
        return &value.items.back();
      }
      if (value.kind != TomlValue::Kind::table || value.closed) {
        return wrong(fmt::format("`{}` stands here twice", printable(key)));
      }
      return &value;
    }
    table.members.emplace_back(key, TomlValue{.kind = TomlValue::Kind::table, .line = line_});
    return &table.members.back().second;
  }

  Result<TomlValue*> header(TomlValue& root) {
    const bool array = take("[[");
    if (!array) {
      take("[");
    }
    CUKIT_TRY_ASSIGN(const auto path, dotted_key());
    if (!take(array ? "]]" : "]")) {
      return wrong("the header of a table is not closed");
    }
    auto* table = &root;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      CUKIT_TRY_ASSIGN(table, open(*table, path[i]));
    }
    return array ? new_item(*table, path.back()) : new_table(*table, path.back());
  }

  Result<TomlValue*> new_item(TomlValue& table, const std::string& key) {
    auto found = std::find_if(table.members.begin(), table.members.end(),
                              [&](const auto& entry) { return entry.first == key; });
    if (found == table.members.end()) {
      table.members.emplace_back(key, TomlValue{.kind = TomlValue::Kind::list, .line = line_});
      found = std::prev(table.members.end());
    }
    auto& list = found->second;
    if (list.kind != TomlValue::Kind::list || list.closed) {
      return wrong(fmt::format("`{}` stands here twice", printable(key)));
    }
    list.items.push_back(TomlValue{.kind = TomlValue::Kind::table, .line = line_});
    return &list.items.back();
  }

  Result<TomlValue*> new_table(TomlValue& table, const std::string& key) {
    if (const auto* before = table.find(key);
        before != nullptr && before->kind != TomlValue::Kind::table) {
      return wrong(fmt::format("`{}` stands here twice", printable(key)));
    }
    CUKIT_TRY_ASSIGN(auto* result, open(table, key));
    if (std::exchange(result->headed, true)) {
      return wrong(fmt::format("the table [{}] stands here twice", printable(key)));
    }
    return result;
  }

  Result<void> member(TomlValue& table, int depth) {
    CUKIT_TRY_ASSIGN(const auto path, dotted_key());
    if (!take("=")) {
      return wrong(fmt::format("`{}` has no value", printable(path.back())));
    }
    auto* target = &table;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      CUKIT_TRY_ASSIGN(target, open(*target, path[i]));
    }
    if (target->find(path.back()) != nullptr) {
      return wrong(fmt::format("`{}` stands here twice", printable(path.back())));
    }
    CUKIT_TRY_ASSIGN(auto read, value(depth + 1));
    target->members.emplace_back(path.back(), std::move(read));
    return {};
  }

  Result<TomlValue> value(int depth) {
    if (depth > k_depth) {
      return wrong("values are nested too deeply");
    }
    skip_spaces();
    TomlValue result{.kind = TomlValue::Kind::text, .line = line_, .closed = true};
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
      CUKIT_TRY_ASSIGN(result.text, rest_.starts_with("\"\"\"") || rest_.starts_with("'''")
                                        ? long_text()
                                        : quoted());
      return result;
    }
    if (take("[")) {
      return list(std::move(result), depth);
    }
    if (take("{")) {
      return inline_table(std::move(result), depth);
    }
    const auto* const last = std::find_if_not(rest_.begin(), rest_.end(), [](char c) {
      return is_bare(c) || c == '+' || c == '.' || c == ':';
    });
    const auto end = static_cast<std::size_t>(last - rest_.begin());
    result.kind = TomlValue::Kind::bare;
    result.text = std::string(rest_.substr(0, end));
    const auto first = result.text.empty() ? '\0' : result.text.front();
    const bool plain = result.text == "true" || result.text == "false" || result.text == "inf" ||
                       result.text == "nan" || (first >= '0' && first <= '9') || first == '+' ||
                       first == '-';
    if (!plain) {
      return wrong("a value is missing or has no quotes");
    }
    advance(end);
    return result;
  }

  Result<TomlValue> list(TomlValue result, int depth) {
    result.kind = TomlValue::Kind::list;
    while (true) {
      skip_blank();
      if (take("]")) {
        return result;
      }
      CUKIT_TRY_ASSIGN(auto item, value(depth + 1));
      result.items.push_back(std::move(item));
      skip_blank();
      if (!take(",") && !rest_.starts_with(']')) {
        return wrong("an array is not closed");
      }
    }
  }

  Result<TomlValue> inline_table(TomlValue result, int depth) {
    result.kind = TomlValue::Kind::table;
    result.closed = false; // dotted keys may open tables inside while it is read
    skip_blank();
    while (!take("}")) {
      CUKIT_TRY(member(result, depth));
      skip_blank();
      if (!take(",") && !rest_.starts_with('}')) {
        return wrong("an inline table is not closed");
      }
      skip_blank();
    }
    result.closed = true;
    return result;
  }

  Result<std::string> quoted() {
    const char quote = rest_.front();
    advance(1);
    std::string text;
    while (!rest_.empty() && rest_.front() != '\n') {
      if (take(std::string_view(&quote, 1))) {
        return text;
      }
      CUKIT_TRY(character(text, quote == '"'));
    }
    return wrong("a quote is not closed");
  }

  Result<std::string> long_text() {
    const std::string quotes(rest_.substr(0, 3));
    advance(3);
    take("\r");
    take("\n");
    std::string text;
    while (!rest_.empty()) {
      if (rest_.starts_with(quotes)) {
        advance(3);
        return text;
      }
      CUKIT_TRY(character(text, quotes.front() == '"'));
    }
    return wrong("a quote is not closed");
  }

  Result<void> character(std::string& text, bool escapes) {
    const char c = rest_.front();
    advance(1);
    if (!escapes || c != '\\') {
      text += c;
      return {};
    }
    static constexpr std::string_view letters = "btnfre\"\\";
    static constexpr std::string_view meanings = "\b\t\n\f\r\x1b\"\\";
    const char letter = rest_.empty() ? '\0' : rest_.front();
    if (const auto at = letters.find(letter); at != std::string_view::npos && letter != '\0') {
      text += meanings[at];
      advance(1);
      return {};
    }
    if (letter == '\n' || letter == ' ' || letter == '\t' || letter == '\r') {
      advance(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); // a folded line
      return {};
    }
    return code_point(text, letter);
  }

  Result<void> code_point(std::string& text, char letter) {
    const std::size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    unsigned long value = 0;
    bool valid = digits != 0 && rest_.size() > digits;
    for (std::size_t i = 1; valid && i <= digits; ++i) {
      const auto at = std::string_view("0123456789abcdef").find(lower(rest_.substr(i, 1)));
      valid = at != std::string_view::npos;
      value = value * 16 + (valid ? at : 0);
    }
    if (!valid || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      return wrong("a backslash is followed by no escape of TOML");
    }
    append_utf8(text, static_cast<unsigned>(value));
    advance(digits + 1);
    return {};
  }

  std::string_view rest_;
  const std::string& file_;
  int line_ = 1;
};

} // namespace

const TomlValue* TomlValue::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) {
      return &value;
    }
  }
  return nullptr;
}

Result<TomlValue> parse_toml(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);
  }
  if (!is_utf8(text)) {
    Error error{.code = ErrorCode::source, .message = "the file is not UTF-8"};
    error.where = file;
    error.hint = "uv refuses this file too; mend it, or name the index with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }
  return TomlReader(text, file).document();
}

} // namespace cukit::source
