#include "source/ini.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <set>

namespace cukit::source {

namespace {

class IniReader {
public:
  explicit IniReader(const std::string& file) : file_(file) {}

  Result<void> line(std::string_view line) {
    ++number_;
    const auto value = trim(line);
    if (value.empty()) {
      if (value_ != nullptr) {
        value_->text += '\n';
      }
      return {};
    }
    if (value.front() == '#' || value.front() == ';') {
      return {};
    }
    const auto indent = line.find_first_not_of(" \t\f\v");
    if (value_ != nullptr && indent > indent_) {
      value_->text += "\n" + std::string(value);
      return {};
    }
    indent_ = indent;
    if (const auto end = value.rfind(']');
        value.front() == '[' && end != std::string_view::npos && end > 1) {
      return section(std::string(value.substr(1, end - 1)));
    }
    return key(value);
  }

  Ini take() {
    for (auto& [name, keys] : ini_) {
      for (auto& [key, value] : keys) {
        value.text = std::string(trim(value.text));
      }
    }
    return std::move(ini_);
  }

private:
  tl::unexpected<Error> wrong(std::string message) const {
    Error error{.code = ErrorCode::source, .message = std::move(message)};
    error.where = fmt::format("{}:{}", file_, number_);
    error.hint = "pip refuses this file too; mend it, or name the index with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }

  Result<void> section(std::string name) {
    if (!ini_.emplace(name, std::map<std::string, IniValue>()).second) {
      return wrong(fmt::format("the section [{}] stands here twice", printable(name)));
    }
    section_ = std::move(name);
    value_ = nullptr;
    return {};
  }

  Result<void> key(std::string_view line) {
    if (section_.empty()) {
      return wrong("a key stands before the first [section]");
    }
    const auto delimiter = line.find_first_of("=:");
    if (delimiter == std::string_view::npos || trim(line.substr(0, delimiter)).empty()) {
      return wrong(fmt::format("`{}` is no `key = value`", redact_url(line).substr(0, 60)));
    }
    auto name = lower(trim(line.substr(0, delimiter)));
    if (!written_.insert(section_ + "\n" + name).second) {
      return wrong(fmt::format("`{}` stands here twice", printable(name)));
    }
    std::replace(name.begin(), name.end(), '_', '-');
    value_ = &ini_[section_][name];
    *value_ = IniValue{std::string(trim(line.substr(delimiter + 1))), number_};
    return {};
  }

  const std::string& file_;
  Ini ini_;
  std::set<std::string> written_; ///< section and key as spelled: only the same spelling is twice
  std::string section_;
  IniValue* value_ = nullptr; ///< the value that an indented line continues
  std::size_t indent_ = 0;
  int number_ = 0;
};

} // namespace

Result<Ini> parse_ini(std::string_view text, const std::string& file) {
  if (!is_utf8(text)) {
    Error error{.code = ErrorCode::source, .message = "the file is not UTF-8"};
    error.where = file;
    error.hint = "pip refuses this file too; mend it, or name the index with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }
  IniReader reader(file);
  for (const auto line : split(text, '\n')) {
    CUKIT_TRY(reader.line(line));
  }
  return reader.take();
}

} // namespace cukit::source
