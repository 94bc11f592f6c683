// The adapter of yaml-cpp. Its Node is not used: it follows aliases, keeps duplicate keys and reads
// further documents without bound. Driving the parser with an own handler shows each of these as an
// event, at its place.
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "text/node.hpp"
#include "text/yaml_source.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <sstream>

namespace cukit::text {

namespace {

/// Leaves the parser from inside an event; never leaves this file.
struct Refusal {
  Position at;
  std::string message;
  std::string hint;
};

/// The first two members with the same key, or none.
std::optional<std::pair<std::size_t, std::size_t>>
find_duplicate(const std::vector<std::pair<Node, Node>>& members) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return members[a].first.scalar < members[b].first.scalar;
  });
  const auto same =
      std::adjacent_find(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return members[a].first.scalar == members[b].first.scalar;
      });
  if (same == order.end()) {
    return std::nullopt;
  }
  return std::pair(*same, *(same + 1));
}

/// Builds the tree from events.
class Builder final : public YAML::EventHandler {
public:
  explicit Builder(const YamlSource& source) : source_(source) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      refuse(mark, "a second document begins here",
             "keep one document per file; remove the line `---`");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, {}, anchor);
    Node node = make(Node::Kind::empty, mark);
    // A value that is not there has the mark of whatever comes next.
    if (!stack_.empty() && stack_.back().key && stack_.back().key->at.line != node.at.line) {
      node.at = stack_.back().key->at;
    }
    take(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (`*name`) are not taken", "write the value out");
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse_anchor(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    Node node = make(Node::Kind::scalar, mark);
    node.scalar = value;
    node.quoted = tag == "!";
    // yaml-cpp takes the rest of the file as the value when a quote is never closed.
    if (node.quoted && !source_.quote_is_closed(offset(mark))) {
      refuse(mark, "this quote is never closed", "add the missing quote");
    }
    take(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override {
    const auto& members = stack_.back().node.members;
    if (const auto same = find_duplicate(members)) {
      const auto& again = members[same->second].first;
      const auto first = members[same->first].first.at;
      throw Refusal{again.at,
                    fmt::format("key `{}` stands twice, first at line {}, column {}",
                                printable(again.scalar), first.line, first.column),
                    "keep one of them"};
    }
    close();
  }

  Node take_root() { return std::move(root_); }

private:
  struct Level {
    Node node;
    std::optional<Node> key; ///< of the member whose value comes next
  };

  static std::size_t offset(const YAML::Mark& mark) {
    return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos);
  }
  [[noreturn]] void refuse(const YAML::Mark& mark, std::string message, std::string hint) const {
    throw Refusal{source_.position(offset(mark)), std::move(message), std::move(hint)};
  }
  [[noreturn]] void refuse_anchor(const YAML::Mark& mark) const {
    refuse(mark, "anchors (`&name`) are not taken", "write the value out at each place");
  }
  Node make(Node::Kind kind, const YAML::Mark& mark) const {
    Node node;
    node.kind = kind;
    node.at = source_.position(offset(mark));
    return node;
  }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    // Every event stands for at least one byte of the text or one missing value between two; more
    // of them is a loop in the parser.
    if (++events_ > 4 * source_.text().size() + 16) {
      refuse(mark, "the text has no end for the parser", "look for a block that is not indented");
    }
    if (anchor != YAML::NullAnchor) {
      refuse_anchor(mark);
    }
    // `! text` has the same tag as quoted text; only the first character tells them apart.
    if ((!tag.empty() && tag != "?" && tag != "!") || source_.at(offset(mark)) == '!') {
      refuse(mark, "tags (`!name`) are not taken", "remove the tag; every value is text");
    }
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    check(mark, tag, anchor);
    if (stack_.size() >= static_cast<std::size_t>(limits::k_yaml_depth)) {
      refuse(mark, fmt::format("more than {} levels inside each other", limits::k_yaml_depth),
             "write it flatter");
    }
    if (!stack_.empty() && stack_.back().node.is_map() && !stack_.back().key) {
      refuse(mark, "a list or map cannot be a key", "put the key in quotes if it is meant as text");
    }
    stack_.push_back({.node = make(kind, mark), .key = {}});
  }

  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    take(std::move(node));
  }

  void take(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& level = stack_.back();
    if (level.node.is_list()) {
      level.node.items.push_back(std::move(node));
    } else if (level.key) {
      level.node.members.emplace_back(std::move(*level.key), std::move(node));
      level.key.reset();
    } else {
      take_key(level, std::move(node));
    }
  }

  static void take_key(Level& level, Node node) {
    if (!node.is_scalar()) {
      throw Refusal{node.at, "a key is missing", "put the key in quotes if it is meant as text"};
    }
    if (node.scalar == "<<" && !node.quoted) {
      throw Refusal{node.at, "merge keys (`<<`) are not taken", "write the members out"};
    }
    level.key = std::move(node);
  }

  const YamlSource& source_;
  int documents_ = 0;
  std::size_t events_ = 0;
  std::vector<Level> stack_;
  Node root_;
};

Error refusal(const std::string& file, Refusal what) {
  return {.code = ErrorCode::usage,
          .message = std::move(what.message),
          .where = place(file, what.at),
          .hint = std::move(what.hint)};
}

/// yaml-cpp's messages begin with small letters already; some end in a period.
std::string reworded(std::string message) {
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) {
    message.pop_back();
  }
  return "not valid YAML: " + printable(message);
}

Result<Node> build(const YamlSource& source, const std::string& file) {
  Builder builder(source);
  try {
    std::istringstream stream{std::string(source.text())};
    YAML::Parser parser(stream);
    // At most two calls: the second one's first event is a refusal, so a document without end costs
    // nothing.
    if (parser.HandleNextDocument(builder)) {
      parser.HandleNextDocument(builder);
    }
    return builder.take_root();
  } catch (const Refusal& what) {
    return tl::unexpected<Error>(refusal(file, what));
  } catch (const YAML::Exception& exception) {
    const auto& mark = exception.mark;
    const auto at =
        mark.is_null() ? Position{} : source.position(static_cast<std::size_t>(mark.pos));
    return tl::unexpected<Error>(
        refusal(file, {at, reworded(exception.msg),
                       "look at this line and the one above: indentation, colons, quotes"}));
  } catch (const std::exception& exception) {
    return fail(ErrorCode::usage, "cannot parse {}: {}", file, exception.what());
  }
}

} // namespace

Result<Node> parse_yaml(std::string_view text, const std::string& file) {
  const YamlSource source(text);
  if (const auto fault = source.first_fault()) {
    return tl::unexpected<Error>(refusal(file, {fault->at, fault->message, fault->hint}));
  }
  auto root = build(source, file);
  // The parser takes some tabs as indentation and misreads others; whatever it made of them, they
  // are the thing to change.
  if (const auto tab = source.tab_indentation(root.has_value())) {
    return tl::unexpected<Error>(refusal(file, {tab->at, tab->message, tab->hint}));
  }
  if (root && root->at.line == 0) {
    root->at = {.line = 1, .column = 1};
  }
  return root;
}

} // namespace cukit::text
