#include "source/toml.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <sstream>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 1
#define TOML_MAX_NESTED_VALUES 32 // a file that nests deeper is no configuration of anybody's
#include <toml++/toml.h>

namespace cukit::source {

namespace {

template <typename T> std::string bare_text(const T& value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::boolalpha << value;
  return out.str();
}

// Recursion is bounded by TOML_MAX_NESTED_VALUES.
TomlValue convert(const toml::node& node) { // NOLINT(misc-no-recursion)
  TomlValue result;
  result.line = static_cast<int>(node.source().begin.line);
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      result.members.emplace_back(std::string(key.str()), convert(value));
    }
  } else if (const auto* array = node.as_array()) {
    result.kind = TomlValue::Kind::list;
    for (const auto& item : *array) {
      result.items.push_back(convert(item));
    }
  } else if (const auto* text = node.as_string()) {
    result.kind = TomlValue::Kind::text;
    result.text = text->get();
  } else {
    result.kind = TomlValue::Kind::bare;
    node.visit([&](const auto& leaf) {
      if constexpr (toml::is_value<decltype(leaf)>) {
        result.text = bare_text(leaf.get());
      }
    });
  }
  return result;
}

} // namespace

const TomlValue* TomlValue::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

Result<TomlValue> parse_toml(std::string_view text, const std::string& file) {
  const auto parsed = toml::parse(text, file);
  if (!parsed) {
    const auto& error = parsed.error();
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::source,
              .message = printable(std::string(error.description())),
              .where = fmt::format("{}:{}", file, error.source().begin.line)});
  }
  return convert(parsed.table());
}

} // namespace cukit::source
