#include "lock/strict_fields.hpp"

#include "base/number.hpp"
#include "base/strings.hpp"

#include <algorithm>

namespace cukit::lock {

namespace {

bool is_one_line(std::string_view text) {
  return !text.empty() && trim(text).size() == text.size() && printable(text) == text;
}

std::string shown(std::string_view text) {
  return printable(text.substr(0, 100));
}

} // namespace

StrictFields::StrictFields(const text::Node& node, std::string what, text::Mistakes& mistakes)
    : node_(node), what_(std::move(what)), mistakes_(mistakes) {
  if (!node.is_map()) {
    mistakes_.add(node.at, fmt::format("{} must be a map", what_));
  }
}

void StrictFields::finish() {
  for (const auto& [key, value] : node_.members) {
    if (std::find(asked_.begin(), asked_.end(), key.scalar) == asked_.end()) {
      const auto guess = did_you_mean(key.scalar, asked_);
      mistakes_.add(key.at,
                    fmt::format("unknown key `{}` in {}{}", shown(key.scalar), what_,
                                guess.empty() ? "" : fmt::format(", did you mean `{}`?", guess)));
    }
  }
}

const text::Node* StrictFields::node(std::string_view key, Need need) {
  asked_.emplace_back(key);
  const auto* found = node_.find(key);
  if (found == nullptr) {
    if (need == Need::required && node_.is_map()) {
      mistakes_.add(node_.at, fmt::format("{} has no `{}`", what_, key));
    }
    return nullptr;
  }
  if (found->is_empty()) {
    mistakes_.add(found->at, fmt::format("`{}` has no value", key));
    return nullptr;
  }
  return found;
}

const text::Node* StrictFields::scalar(std::string_view key, Need need) {
  const auto* found = node(key, need);
  if (found != nullptr && !found->is_scalar()) {
    mistakes_.add(found->at, fmt::format("`{}` must be a single value", key));
    return nullptr;
  }
  return found;
}

std::string StrictFields::text(std::string_view key, Need need) {
  const auto* found = scalar(key, need);
  if (found == nullptr) {
    return {};
  }
  if (!is_one_line(found->scalar)) {
    mistakes_.add(found->at, fmt::format("`{}` must be one line of printable text", key));
    return {};
  }
  return found->scalar;
}

std::optional<Sha256> read_digest(const text::Node& node, std::string_view what,
                                  text::Mistakes& mistakes) {
  auto digest = Sha256::parse(node.scalar);
  if (!node.is_scalar() || !node.scalar.starts_with("sha256:") || !digest) {
    mistakes.add(node.at,
                 fmt::format("`{}` must be `sha256:` and 64 lower-case hexadecimal digits", what));
    return std::nullopt;
  }
  return *digest;
}

std::optional<Sha256> StrictFields::digest(std::string_view key, Need need) {
  const auto* found = scalar(key, need);
  return found == nullptr ? std::nullopt : read_digest(*found, key, mistakes_);
}

std::uint64_t StrictFields::number(std::string_view key) {
  const auto* found = scalar(key, Need::required);
  if (found == nullptr) {
    return 0;
  }
  const auto& text = found->scalar;
  const auto value = whole_number(text).value_or(0);
  if (value == 0 || text.front() == '0') {
    mistakes_.add(found->at,
                  fmt::format("`{}` must be a whole number above 0, not `{}`", key, shown(text)));
    return 0;
  }
  return value;
}

std::optional<Version> StrictFields::version(std::string_view key, Need need) {
  const auto* found = scalar(key, need);
  if (found == nullptr) {
    return std::nullopt;
  }
  auto version = Version::parse(found->scalar);
  if (!version) {
    mistakes_.add(found->at, fmt::format("`{}`: {}", key, version.error().message));
    return std::nullopt;
  }
  if (!found->quoted) {
    mistakes_.add(found->at, fmt::format("`{}` must be quoted: \"{}\"", key, version->text()));
  }
  if (version->text() != found->scalar) {
    mistakes_.add(found->at, fmt::format("`{}` must be spelled \"{}\"", key, version->text()));
  }
  return *version;
}

std::vector<std::pair<std::string, text::Position>> StrictFields::list(std::string_view key) {
  const auto* found = node(key, Need::optional);
  if (found == nullptr) {
    return {};
  }
  if (!found->is_list() || found->items.empty()) {
    mistakes_.add(found->at, fmt::format("`{}` must be a list with at least one entry", key));
    return {};
  }
  std::vector<std::pair<std::string, text::Position>> result;
  std::set<std::string> seen;
  for (const auto& entry : found->items) {
    if (!entry.is_scalar() || !is_one_line(entry.scalar)) {
      mistakes_.add(entry.at,
                    fmt::format("an entry of `{}` must be one line of printable text", key));
    } else if (!seen.insert(entry.scalar).second) {
      mistakes_.add(entry.at, fmt::format("`{}` holds `{}` twice", key, shown(entry.scalar)));
    } else {
      result.emplace_back(entry.scalar, entry.at);
    }
  }
  return result;
}

} // namespace cukit::lock
