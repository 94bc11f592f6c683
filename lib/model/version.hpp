// Versions as PEP 440 orders them. NVIDIA's dotted numbers (13.0.88, 13.3.5.0.6, 580.95.05) are
// plain releases of that grammar, so one type serves wheels, redistributables, drivers and
// compilers. Never compare versions as text or as floats.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit {

class Version {
public:
  Version() = default; ///< 0
  /// Numbers up to 2^63-1; leading zeros are dropped (570.086 is 570.86). `v`, spaces around and
  /// PEP 440's other spellings are taken and normalised.
  static Result<Version> parse(std::string_view text);

  [[nodiscard]] const std::vector<std::int64_t>& release() const { return release_; }
  /// The n-th number of the release, 0 when there is none.
  [[nodiscard]] std::int64_t part(std::size_t index) const {
    return index < release_.size() ? release_[index] : 0;
  }
  [[nodiscard]] std::int64_t major() const { return part(0); }
  [[nodiscard]] std::int64_t minor() const { return part(1); }
  /// a, b, rc or dev release: never chosen unasked.
  [[nodiscard]] bool is_prerelease() const;
  [[nodiscard]] bool is_local() const { return !local_.empty(); }
  [[nodiscard]] bool has_post() const { return post_ >= 0; }
  [[nodiscard]] bool has_dev() const { return dev_ >= 0; }
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }

  /// The normalised text, with the number of release parts it was written with.
  [[nodiscard]] std::string text() const;
  /// "13.2" of 13.2.78
  [[nodiscard]] std::string major_minor() const;
  [[nodiscard]] bool same_minor(const Version& other) const {
    return major() == other.major() && minor() == other.minor();
  }
  /// Same release without the local part.
  [[nodiscard]] Version without_local() const;
  /// Without dev and local part: what a dev release leads to.
  [[nodiscard]] Version without_dev() const;
  /// Without post, dev and local part: what a post release came after.
  [[nodiscard]] Version without_post() const;

  /// PEP 440's order; 13.1.2 equals 13.1.2.0.
  std::weak_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const {
    return (*this <=> other) == std::weak_ordering::equivalent;
  }

private:
  std::int64_t epoch_ = 0;
  std::vector<std::int64_t> release_{0};
  char pre_kind_ = 0; ///< 'a', 'b', 'r', or 0
  std::int64_t pre_ = -1;
  std::int64_t post_ = -1;
  std::int64_t dev_ = -1;
  std::vector<std::string> local_;
};

/// A set of versions: comma-separated clauses that must all hold (PEP 440 specifiers).
class VersionRange {
public:
  VersionRange() = default; ///< everything
  /// `==13.0.88.*`, `>=13.2.78,<14`, `~=2.1`, `!=`, `===`; an operator is needed.
  static Result<VersionRange> parse(std::string_view text);
  /// As a manifest has it: a bare version means that release and its patches (`13.2` is `==13.2.*`,
  /// `13.10` is not `13.1`), anything with an operator is a range.
  static Result<VersionRange> parse_wish(std::string_view text);

  /// Pre-releases are inside only when a clause names one (PEP 440) or `with_prereleases` is set.
  [[nodiscard]] bool contains(const Version& version, bool with_prereleases = false) const;
  [[nodiscard]] bool names_prerelease() const;
  [[nodiscard]] bool is_any() const { return clauses_.empty(); }
  [[nodiscard]] std::string text() const; ///< normalised, clauses in the order given
  /// Two bounds that exclude each other (">=13.2", "<13.1"), or nothing: then no version at all is
  /// in the range. Other ways of being empty are not looked for.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> contradiction() const;
  bool operator==(const VersionRange&) const = default;

private:
  enum class Operator {
    equal,
    prefix,
    not_equal,
    not_prefix,
    less,
    less_equal,
    greater,
    greater_equal,
    compatible,
    arbitrary
  };
  struct Clause {
    Operator op;
    Version version;
    std::string arbitrary; ///< the text of ===
    bool operator==(const Clause&) const = default;
  };
  static bool holds(const Clause& clause, const Version& version);
  static std::string text_of(const Clause& clause);
  std::vector<Clause> clauses_;
};

} // namespace cukit
