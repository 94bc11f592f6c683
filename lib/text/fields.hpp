// Takes a map of a YAML file apart, key by key. What was asked for is known; whatever is left over
// at the end is a mistake with a "did you mean". Every mistake is collected with its place, none
// stops the reading.
#pragma once

#include "text/node.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cukit::text {

class Fields {
public:
  /// `what` names the map in messages ("the manifest", "`toolkit`"). A node that is no map is a
  /// mistake, and holds nothing.
  Fields(const Node& node, Mistakes& mistakes, std::string what);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  /// Reports the keys that nobody asked for.
  ~Fields();

  [[nodiscard]] Mistakes& mistakes() { return mistakes_; }
  /// The value of `key`, whatever it is, or nullptr. A key without a value is a mistake and counts
  /// as absent.
  const Node* take(std::string_view key);
  /// The same, but absence is a mistake.
  const Node* require(std::string_view key);

  /// The node of a value that must be text, or nullptr; another kind is a mistake.
  const Node* text(std::string_view key);
  /// The text itself; empty when absent.
  std::string text_or_empty(std::string_view key);
  std::string required_text(std::string_view key);
  /// `true` or `false`; false when absent.
  bool flag(std::string_view key);
  /// The nodes of a list of texts; one text stands for a list of one. Empty when absent.
  std::vector<const Node*> texts(std::string_view key);
  std::vector<std::string> strings(std::string_view key);
  /// A map of texts, in the order of the file.
  std::vector<std::pair<std::string, std::string>> pairs(std::string_view key);

  /// The text of `key` put through `parse`, which returns a Result; its error becomes a mistake at
  /// the value.
  template <typename Parse>
  auto parsed(std::string_view key, const Parse& parse)
      -> std::optional<typename std::invoke_result_t<Parse, const std::string&>::value_type> {
    const auto* node = text(key);
    return node == nullptr ? std::nullopt : parse_node(*node, parse);
  }
  template <typename Parse>
  auto parse_node(const Node& node, const Parse& parse)
      -> std::optional<typename std::invoke_result_t<Parse, const std::string&>::value_type> {
    auto result = parse(node.scalar);
    if (!result) {
      mistakes_.add(node.at, std::move(result.error().message), std::move(result.error().hint));
      return std::nullopt;
    }
    return *std::move(result);
  }

private:
  const Node& node_;
  Mistakes& mistakes_;
  std::string what_;
  std::vector<std::string> known_;
};

/// `did you mean `near`?` or an empty text.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& known);

} // namespace cukit::text
