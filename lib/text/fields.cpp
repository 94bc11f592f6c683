#include "text/fields.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::text {

namespace {

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
  case Node::Kind::scalar:
    return "text";
  case Node::Kind::list:
    return "a list";
  case Node::Kind::map:
    return "keys with values";
  case Node::Kind::empty:
    break;
  }
  return "nothing";
}

} // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto near = did_you_mean(word, known);
  return near.empty() ? "" : fmt::format("did you mean `{}`?", near);
}

Fields::Fields(const Node& node, Mistakes& mistakes, std::string what)
    : node_(node), mistakes_(mistakes), what_(std::move(what)) {
  if (!node.is_map()) {
    mistakes_.add(node.at, fmt::format("{} must hold keys with values, but here is {}", what_,
                                       name_of(node.kind)));
  }
}

Fields::~Fields() {
  for (const auto& [key, value] : node_.members) {
    if (std::find(known_.begin(), known_.end(), key.scalar) != known_.end()) {
      continue;
    }
    auto hint = suggestion(key.scalar, known_);
    if (hint.empty()) {
      hint = "known are " + join(known_, ", ");
    }
    mistakes_.add(key.at, fmt::format("{} has no key `{}`", what_, printable(key.scalar)),
                  std::move(hint));
  }
}

const Node* Fields::take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
    known_.emplace_back(key);
  }
  const auto* value = node_.find(key);
  if (value != nullptr && value->is_empty()) {
    mistakes_.add(value->at, fmt::format("`{}` has no value", key),
                  "give it one or remove the line");
    return nullptr;
  }
  return value;
}

const Node* Fields::require(std::string_view key) {
  const auto* value = take(key);
  if (value == nullptr && node_.is_map() && node_.find(key) == nullptr) {
    mistakes_.add(node_.at, fmt::format("{} lacks `{}`", what_, key));
  }
  return value;
}

const Node* Fields::text(std::string_view key) {
  const auto* value = take(key);
  if (value != nullptr && !value->is_scalar()) {
    mistakes_.add(value->at,
                  fmt::format("`{}` must be text, but here is {}", key, name_of(value->kind)));
    return nullptr;
  }
  return value;
}

std::string Fields::text_or_empty(std::string_view key) {
  const auto* value = text(key);
  return value == nullptr ? std::string() : value->scalar;
}

std::string Fields::required_text(std::string_view key) {
  const auto* value = require(key);
  if (value != nullptr && !value->is_scalar()) {
    mistakes_.add(value->at,
                  fmt::format("`{}` must be text, but here is {}", key, name_of(value->kind)));
    return {};
  }
  return value == nullptr ? std::string() : value->scalar;
}

bool Fields::flag(std::string_view key) {
  const auto* value = text(key);
  if (value != nullptr && value->scalar != "true" && value->scalar != "false") {
    mistakes_.add(value->at, fmt::format("`{}` must be true or false", key));
  }
  return value != nullptr && value->scalar == "true";
}

std::vector<const Node*> Fields::texts(std::string_view key) {
  std::vector<const Node*> result;
  const auto* value = take(key);
  if (value == nullptr) {
    return result;
  }
  if (value->is_scalar()) {
    result.push_back(value);
  } else if (!value->is_list()) {
    mistakes_.add(value->at,
                  fmt::format("`{}` must be a list, but here is {}", key, name_of(value->kind)),
                  "write it in brackets, [a, b]");
  }
  for (const auto& item : value->items) {
    if (item.is_scalar()) {
      result.push_back(&item);
    } else {
      mistakes_.add(item.at,
                    fmt::format("`{}` must hold texts, but here is {}", key, name_of(item.kind)));
    }
  }
  return result;
}

std::vector<std::string> Fields::strings(std::string_view key) {
  std::vector<std::string> result;
  for (const auto* node : texts(key)) {
    result.push_back(node->scalar);
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> Fields::pairs(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> result;
  const auto* value = take(key);
  if (value == nullptr) {
    return result;
  }
  if (!value->is_map()) {
    mistakes_.add(value->at, fmt::format("`{}` must hold keys with values, but here is {}", key,
                                         name_of(value->kind)));
  }
  for (const auto& [name, item] : value->members) {
    if (item.is_scalar()) {
      result.emplace_back(name.scalar, item.scalar);
    } else {
      mistakes_.add(item.at, fmt::format("`{}` must be text, but here is {}",
                                         printable(name.scalar), name_of(item.kind)));
    }
  }
  return result;
}

} // namespace cukit::text
