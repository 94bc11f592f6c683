// Writing JSON: byte-stable, and safe for whatever shows it (a terminal, a log, another parser).
#include "base/strings.hpp"
#include "base/unicode.hpp"
#include "text/json.hpp"

#include <cmath>

namespace cukit::text {

namespace {

constexpr std::string_view k_replacement = "\xef\xbf\xbd"; // U+FFFD

class Writer {
public:
  explicit Writer(bool pretty) : pretty_(pretty) {}

  void write(const Json& json) {
    switch (json.kind()) {
    case Json::Kind::null:
      out_ += "null";
      break;
    case Json::Kind::boolean:
      out_ += json.boolean() ? "true" : "false";
      break;
    case Json::Kind::integer:
      out_ += fmt::format("{}", json.integer());
      break;
    case Json::Kind::real:
      write_real(json.real());
      break;
    case Json::Kind::string:
      write_string(json.text());
      break;
    case Json::Kind::list:
      write_block('[', ']', json.items(), [this](const Json& item) { write(item); });
      break;
    case Json::Kind::object:
      write_block('{', '}', json.members(), [this](const auto& member) {
        write_string(member.first);
        out_ += pretty_ ? ": " : ":";
        write(member.second);
      });
      break;
    }
  }
  std::string take() { return std::move(out_); }

private:
  void new_line() {
    if (pretty_) {
      out_ += '\n';
      out_.append(2 * depth_, ' ');
    }
  }

  template <typename Values, typename Write>
  void write_block(char open, char close, const Values& values, const Write& write_one) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& value : values) {
      if (!first) {
        out_ += ',';
      }
      first = false;
      new_line();
      write_one(value);
    }
    --depth_;
    if (!first) {
      new_line();
    }
    out_ += close;
  }

  void write_real(double value) {
    if (!std::isfinite(value)) {
      out_ += "null"; // JSON has no word for it
      return;
    }
    auto text = fmt::format("{}", value);
    // 1.0 must not come back as an integer.
    if (text.find_first_of(".e") == std::string::npos) {
      text += ".0";
    }
    out_ += text;
  }

  void write_string(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const auto valid = text.substr(0, first_invalid_utf8(text));
      for (auto rest = valid; !rest.empty();) {
        const auto character = first_character(rest);
        write_character(character.value, rest.substr(0, character.bytes));
        rest.remove_prefix(character.bytes);
      }
      text.remove_prefix(valid.size());
      if (!text.empty()) {
        out_ += k_replacement;
        text.remove_prefix(1);
      }
    }
    out_ += '"';
  }

  /// What a terminal would obey is written as an escape: the value is the same.
  void write_character(char32_t value, std::string_view bytes) {
    if (value == '"' || value == '\\') {
      out_ += '\\';
      out_ += bytes;
    } else if (value == '\n') {
      out_ += "\\n";
    } else if (value == '\t') {
      out_ += "\\t";
    } else if (is_control(value)) {
      out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(value));
    } else {
      out_ += bytes;
    }
  }

  bool pretty_;
  std::size_t depth_ = 0;
  std::string out_;
};

} // namespace

std::string Json::dump(bool pretty) const {
  Writer writer(pretty);
  writer.write(*this);
  return writer.take();
}

} // namespace cukit::text
