// Private to lock/: the fields of one map of a lock file, each of which has one spelling alone,
// taken out one by one; whatever is left over at the end is a mistake.
#pragma once

#include "base/sha256.hpp"
#include "model/version.hpp"
#include "text/node.hpp"

#include <optional>
#include <set>

namespace cukit::lock {

class StrictFields {
public:
  /// `what` is for messages: "an artifact". A node that is no map is a mistake, and then every
  /// field is absent.
  StrictFields(const text::Node& node, std::string what, text::Mistakes& mistakes);
  /// Reports the keys that nobody asked for.
  void finish();

  enum class Need { required, optional };
  /// The value of `key`; absent is a mistake where it is required, and so is a key without a value.
  const text::Node* node(std::string_view key, Need need);
  /// One line of printable text without spaces at its ends.
  std::string text(std::string_view key, Need need);
  std::optional<Sha256> digest(std::string_view key, Need need);
  /// A decimal number > 0 without sign or leading zero.
  std::uint64_t number(std::string_view key);
  /// Quoted and spelled as it is normalised.
  std::optional<Version> version(std::string_view key, Need need);
  /// Texts of a list of scalars, no two equal; an empty list is a mistake (absent says the same).
  std::vector<std::pair<std::string, text::Position>> list(std::string_view key);

  void mistake(text::Position at, std::string message) { mistakes_.add(at, std::move(message)); }
  [[nodiscard]] text::Position at() const { return node_.at; }
  text::Mistakes& mistakes() { return mistakes_; }

private:
  const text::Node* scalar(std::string_view key, Need need);
  const text::Node& node_;
  std::string what_;
  text::Mistakes& mistakes_;
  std::vector<std::string> asked_;
};

/// The digest that a scalar spells (`sha256:` and 64 digits), or a mistake.
std::optional<Sha256> read_digest(const text::Node& node, std::string_view what,
                                  text::Mistakes& mistakes);

} // namespace cukit::lock
