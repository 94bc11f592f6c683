// The bytes of a YAML file beside the parser: where an offset is for a person, and the faults that
// yaml-cpp does not see.
#pragma once

#include "text/node.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::text {

class YamlSource {
public:
  /// The view must outlive the object. A byte order mark is passed over.
  explicit YamlSource(std::string_view text);

  [[nodiscard]] std::string_view text() const { return text_; }
  /// The byte at `offset`, 0 behind the end.
  [[nodiscard]] char at(std::size_t offset) const {
    return offset < text_.size() ? text_[offset] : '\0';
  }
  [[nodiscard]] Position position(std::size_t offset) const;

  struct Fault {
    Position at;
    std::string message;
    std::string hint;
  };
  /// Bytes that are not UTF-8 and control characters (yaml-cpp takes byte 4 for the end of the
  /// file).
  [[nodiscard]] std::optional<Fault> first_fault() const;
  /// A line indented with a tab. When the text was `parsed`, only one where the tab stands in for
  /// the indentation of a block.
  [[nodiscard]] std::optional<Fault> tab_indentation(bool parsed) const;
  /// Whether the quoted text that starts at `offset` ends; true when no quote stands there.
  [[nodiscard]] bool quote_is_closed(std::size_t offset) const;

private:
  std::string_view text_;
  std::vector<std::size_t> line_starts_;
};

} // namespace cukit::text
