#include "catalog/marker.hpp"

#include "base/strings.hpp"
#include "catalog/catalog.hpp"
#include "model/project_name.hpp"

#include <algorithm>
#include <array>

namespace cukit::catalog {

namespace {

constexpr int k_depth = 32;

struct Variable {
  std::string_view name;
  std::string_view value; ///< empty where the platform or the caller decides
  bool is_version = false;
};

// The machine of the lock, with the Python that counts (requirement.hpp).
constexpr std::array<Variable, 16> k_variables = {{
    {"os_name", "posix"},
    {"os.name", "posix"},
    {"sys_platform", "linux"},
    {"sys.platform", "linux"},
    {"platform_machine", ""},
    {"platform.machine", ""},
    {"platform_system", "Linux"},
    {"platform_release", ""},
    {"platform_version", ""},
    {"platform_python_implementation", "CPython"},
    {"python_implementation", "CPython"},
    {"implementation_name", "cpython"},
    {"implementation_version", "3.12.0", true},
    {"python_version", "3.12", true},
    {"python_full_version", "3.12.0", true},
    {"extra", ""},
}};

const Variable* find_variable(std::string_view name) {
  const auto* found = std::find_if(k_variables.begin(), k_variables.end(),
                                   [&](const Variable& v) { return v.name == name; });
  return found == k_variables.end() ? nullptr : found;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

class MarkerReader {
public:
  explicit MarkerReader(std::string_view text) : whole_(text), rest_(text) {}

  Result<MarkerNode> read() {
    CUKIT_TRY_ASSIGN(auto node, chain(MarkerNode::Kind::any, 0));
    skip();
    if (!rest_.empty()) {
      return wrong("something follows its end");
    }
    return node;
  }

private:
  tl::unexpected<Error> wrong(std::string_view why) const {
    return fail(ErrorCode::source, "the marker `{}` cannot be read: {}",
                printable(whole_.substr(0, 200)), why);
  }
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  std::string_view peek_word() {
    skip();
    const auto* end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
    return rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  }
  bool take_word(std::string_view word) {
    if (peek_word() != word) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take(char c) {
    skip();
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  /// `or` binds weaker than `and`.
  Result<MarkerNode> chain(MarkerNode::Kind kind, int depth) {
    const bool any = kind == MarkerNode::Kind::any;
    MarkerNode node{.kind = kind};
    do {
      CUKIT_TRY_ASSIGN(auto part, any ? chain(MarkerNode::Kind::all, depth) : primary(depth));
      node.parts.push_back(std::move(part));
    } while (take_word(any ? "or" : "and"));
    return node;
  }

  Result<MarkerNode> primary(int depth) {
    if (depth > k_depth) {
      return wrong("it is nested too deeply");
    }
    if (take('(')) {
      CUKIT_TRY_ASSIGN(auto node, chain(MarkerNode::Kind::any, depth + 1));
      if (!take(')')) {
        return wrong("a parenthesis is not closed");
      }
      return node;
    }
    MarkerNode node;
    CUKIT_TRY_ASSIGN(node.left, side());
    CUKIT_TRY_ASSIGN(node.op, comparison());
    CUKIT_TRY_ASSIGN(node.right, side());
    if (!node.left.variable && !node.right.variable) {
      return wrong("it compares two texts");
    }
    return node;
  }

  Result<MarkerNode::Side> side() {
    skip();
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
      const auto end = rest_.find(rest_.front(), 1);
      if (end == std::string_view::npos) {
        return wrong("a quote is not closed");
      }
      MarkerNode::Side result{.text = std::string(rest_.substr(1, end - 1))};
      rest_.remove_prefix(end + 1);
      return result;
    }
    const auto name = peek_word();
    if (find_variable(name) == nullptr) {
      return wrong(name.empty() ? "a variable or a text is missing"
                                : fmt::format("there is no variable `{}`", name.substr(0, 60)));
    }
    rest_.remove_prefix(name.size());
    return MarkerNode::Side{.variable = true, .text = std::string(name)};
  }

  Result<std::string> comparison() {
    if (take_word("in")) {
      return std::string("in");
    }
    if (take_word("not")) {
      return take_word("in") ? Result<std::string>("not in") : wrong("`not` needs `in`");
    }
    for (const auto* op : {"===", "==", "!=", "<=", ">=", "~=", "<", ">"}) {
      if (rest_.starts_with(op)) {
        rest_.remove_prefix(std::string_view(op).size());
        return std::string(op);
      }
    }
    return wrong("a comparison is missing");
  }

  std::string_view whole_;
  std::string_view rest_;
};

struct Operand {
  std::string text;
  bool is_version = false;
};

Operand value_of(const MarkerNode::Side& side, Platform platform, std::string_view extra) {
  if (!side.variable) {
    return {side.text, false};
  }
  const auto* variable = find_variable(side.text);
  if (side.text == "extra") {
    return {normalised_project(extra), false};
  }
  if (side.text == "platform_machine" || side.text == "platform.machine") {
    return {std::string(platform.machine()), false};
  }
  return {std::string(variable->value), variable->is_version};
}

bool compare_texts(const std::string& left, const std::string& op, const std::string& right) {
  if (op == "==" || op == "===") {
    return left == right;
  }
  if (op == "!=") {
    return left != right;
  }
  if (op == "~=") {
    return false; // has no meaning for texts
  }
  const bool equal_counts = op.size() == 2;
  return op.front() == '<' ? left < right || (equal_counts && left == right)
                           : left > right || (equal_counts && left == right);
}

/// The version on the left, whichever side it was written on; nothing when they are no versions.
std::optional<bool> compare_versions(const Operand& left, std::string op, const Operand& right) {
  const bool swapped = !left.is_version;
  if (swapped && (op.front() == '<' || op.front() == '>')) {
    op.front() = op.front() == '<' ? '>' : '<';
  }
  const auto version = Version::parse(swapped ? right.text : left.text);
  const auto range = VersionRange::parse(op + (swapped ? left.text : right.text));
  if (!version || !range) {
    return std::nullopt;
  }
  return range->contains(*version, true);
}

bool compare(const MarkerNode& node, Platform platform, std::string_view extra) {
  auto left = value_of(node.left, platform, extra);
  auto right = value_of(node.right, platform, extra);
  if (node.left.text == "extra" && node.left.variable) {
    right.text = normalised_project(right.text);
  } else if (node.right.text == "extra" && node.right.variable) {
    left.text = normalised_project(left.text);
  }
  if (node.op == "in" || node.op == "not in") {
    return (right.text.find(left.text) != std::string::npos) == (node.op == "in");
  }
  if (left.is_version || right.is_version) {
    if (const auto result = compare_versions(left, node.op, right)) {
      return *result;
    }
  }
  return compare_texts(left.text, node.op, right.text);
}

} // namespace

Result<std::shared_ptr<const MarkerNode>> parse_marker(std::string_view text) {
  CUKIT_TRY_ASSIGN(auto node, MarkerReader(text).read());
  return std::make_shared<const MarkerNode>(std::move(node));
}

bool holds(const MarkerNode& marker, Platform platform, std::string_view extra) {
  const auto part_holds = [&](const MarkerNode& part) { return holds(part, platform, extra); };
  switch (marker.kind) {
  case MarkerNode::Kind::all:
    return std::all_of(marker.parts.begin(), marker.parts.end(), part_holds);
  case MarkerNode::Kind::any:
    return std::any_of(marker.parts.begin(), marker.parts.end(), part_holds);
  case MarkerNode::Kind::compare:
    return compare(marker, platform, extra);
  }
  return false;
}

} // namespace cukit::catalog
