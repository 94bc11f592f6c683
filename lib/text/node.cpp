#include "text/node.hpp"

#include <algorithm>

namespace cukit::text {

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

const Node* Node::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.first.scalar == key; });
  return found == members.end() ? nullptr : &found->second;
}

std::string place(std::string_view file, Position at) {
  if (at.line <= 0) {
    return std::string(file);
  }
  return at.column > 0 ? fmt::format("{}:{}:{}", file, at.line, at.column)
                       : fmt::format("{}:{}", file, at.line);
}

void Mistakes::add(Position at, std::string message, std::string hint) {
  list_.push_back({.at = at, .message = std::move(message), .hint = std::move(hint)});
}

Error Mistakes::error(ErrorCode code) && {
  std::stable_sort(list_.begin(), list_.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  if (list_.size() == 1) {
    auto& only = list_.front();
    return {.code = code,
            .message = std::move(only.message),
            .where = place(file_, only.at),
            .hint = std::move(only.hint)};
  }
  Error error{.code = code,
              .message = fmt::format("{} mistakes in {}", list_.size(), file_),
              .where = file_};
  for (const auto& mistake : list_) {
    error.causes.push_back(fmt::format("{}: {}{}{}", place(file_, mistake.at), mistake.message,
                                       mistake.hint.empty() ? "" : "; ", mistake.hint));
  }
  return error;
}

} // namespace cukit::text
