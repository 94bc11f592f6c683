// A YAML document as cukit takes it: maps, lists and scalars, each with the line and column it
// stands at. Plain scalars are text: nothing is ever turned into a number, a boolean or a date
// (13.10 stays "13.10").
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::text {

struct Position {
  int line = 0; ///< from 1; 0: unknown
  int column = 0;
  auto operator<=>(const Position&) const = default;
};

class Node {
public:
  enum class Kind {
    empty,
    scalar,
    list,
    map
  }; ///< empty: nothing after the colon, or `~`/`null` unquoted

  // Not inline: a pair of nodes is not complete inside the class of its halves (clang insists).
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  Kind kind = Kind::empty;
  Position at;
  std::string scalar; ///< text of a scalar
  bool quoted = false;
  std::vector<Node> items; ///< of a list
  std::vector<std::pair<Node, Node>>
      members; ///< of a map, in the order of the file; keys are scalars, no two equal

  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_list() const { return kind == Kind::list; }
  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  [[nodiscard]] bool is_empty() const { return kind == Kind::empty; }
  /// The value of `key`, or nullptr.
  [[nodiscard]] const Node* find(std::string_view key) const;
};

/// `file:line:column`
[[nodiscard]] std::string place(std::string_view file, Position at);

/// Mistakes of one file, all of them reported at once, sorted by position.
class Mistakes {
public:
  explicit Mistakes(std::string file) : file_(std::move(file)) {}
  void add(Position at, std::string message, std::string hint = {});
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// One error: a single mistake is the message itself with its place and hint; several become its
  /// causes
  /// ("file:line:column: message; hint"). Not to be called without any.
  [[nodiscard]] Error error(ErrorCode code = ErrorCode::usage) &&;

private:
  struct Mistake {
    Position at;
    std::string message;
    std::string hint;
  };
  std::string file_;
  std::vector<Mistake> list_;
};

/// Parses one document (none at all is an empty node). Refused with a position: anchors, aliases,
/// tags, merge keys, duplicate keys (both places), a second document, keys that are no scalars,
/// more depth than limits::k_yaml_depth, bytes that are not UTF-8, control characters, tabs as
/// indentation. BOM and CRLF are fine. Columns count characters. Errors have code usage; never
/// throws.
Result<Node> parse_yaml(std::string_view text, const std::string& file);

} // namespace cukit::text
