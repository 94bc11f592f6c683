#include "base/strings.hpp"
#include "model/version.hpp"
#include "model/version_parts.hpp"

#include <algorithm>

namespace cukit {

namespace {

/// The first `count` parts are equal, missing ones being 0.
bool shares_prefix(const Version& prefix, const Version& version) {
  if (prefix.epoch() != version.epoch()) {
    return false;
  }
  for (std::size_t i = 0; i < prefix.release().size(); ++i) {
    if (prefix.release()[i] != version.part(i)) {
      return false;
    }
  }
  return true;
}

/// 13.2rc1 of 13.2, and 13.2.post1.dev0 of 13.2.post1: not below it for the operator <.
bool is_prerelease_of(const Version& version, const Version& bound) {
  if (!version.is_prerelease()) {
    return false;
  }
  return bound.has_post() ? version.without_dev() == bound
                          : compare_release(version.release(), bound.release()) == 0;
}

/// 13.2.post1 of 13.2: not above it for the operator >.
bool is_post_of(const Version& version, const Version& bound) {
  return version.has_post() && version.without_post() == bound;
}

} // namespace

Result<VersionRange> VersionRange::parse(std::string_view text) {
  static constexpr std::pair<std::string_view, Operator> operators[] = {
      {"===", Operator::arbitrary}, {"==", Operator::equal},         {"!=", Operator::not_equal},
      {"<=", Operator::less_equal}, {">=", Operator::greater_equal}, {"~=", Operator::compatible},
      {"<", Operator::less},        {">", Operator::greater}};
  VersionRange range;
  if (strip(text).empty()) {
    return range;
  }
  for (auto part : split(text, ',')) {
    part = strip(part);
    const auto* found =
        std::find_if(std::begin(operators), std::end(operators),
                     [&](const auto& entry) { return part.starts_with(entry.first); });
    if (found == std::end(operators)) {
      return fail(ErrorCode::usage, "`{}` is no version range: `{}` has no operator",
                  printable(text.substr(0, 100)), printable(part.substr(0, 100)));
    }
    auto number = strip(part.substr(found->first.size()));
    Clause clause{.op = found->second, .version = {}, .arbitrary = {}};
    if (clause.op == Operator::arbitrary) {
      clause.arbitrary = std::string(number);
      if (number.empty()) {
        return fail(ErrorCode::usage, "`{}` names no version", printable(text.substr(0, 100)));
      }
      range.clauses_.push_back(std::move(clause));
      continue;
    }
    const bool prefix = number.ends_with(".*");
    if (prefix) {
      number.remove_suffix(2);
      if (clause.op != Operator::equal && clause.op != Operator::not_equal) {
        return fail(ErrorCode::usage, "`{}`: only == and != take `.*`",
                    printable(part.substr(0, 100)));
      }
      clause.op = clause.op == Operator::equal ? Operator::prefix : Operator::not_prefix;
    }
    CUKIT_TRY_ASSIGN(clause.version, Version::parse(number));
    const bool bad_prefix = prefix && (clause.version.is_prerelease() ||
                                       clause.version.has_post() || clause.version.is_local());
    const bool bad_local = clause.version.is_local() && clause.op != Operator::equal &&
                           clause.op != Operator::not_equal;
    const bool bad_compatible =
        clause.op == Operator::compatible && clause.version.release().size() < 2;
    if (bad_prefix || bad_local || bad_compatible) {
      return fail(ErrorCode::usage, "`{}` is no version clause PEP 440 knows",
                  printable(part.substr(0, 100)));
    }
    range.clauses_.push_back(std::move(clause));
  }
  return range;
}

Result<VersionRange> VersionRange::parse_wish(std::string_view text) {
  const auto wish = strip(text);
  if (!wish.empty() && (is_digit(wish.front()) || wish.front() == 'v')) {
    if (wish.ends_with(".*")) {
      return parse("==" + std::string(wish));
    }
    CUKIT_TRY_ASSIGN(const auto version, Version::parse(wish));
    VersionRange range;
    const bool exact = version.is_prerelease() || version.has_post() || version.is_local();
    range.clauses_.push_back(Clause{
        .op = exact ? Operator::equal : Operator::prefix, .version = version, .arbitrary = {}});
    return range;
  }
  if (wish.empty()) {
    return fail(ErrorCode::usage, "the version is empty");
  }
  return parse(wish);
}

bool VersionRange::holds(const Clause& clause, const Version& version) {
  const Version& bound = clause.version;
  const Version public_version = bound.is_local() ? version : version.without_local();
  switch (clause.op) {
  case Operator::arbitrary:
    return version.text() == lower(clause.arbitrary);
  case Operator::prefix:
    return shares_prefix(bound, version);
  case Operator::not_prefix:
    return !shares_prefix(bound, version);
  case Operator::equal:
    return public_version == bound;
  case Operator::not_equal:
    return public_version != bound;
  case Operator::less_equal:
    return public_version <= bound;
  case Operator::greater_equal:
    return public_version >= bound;
  case Operator::less:
    return public_version < bound && !(is_prerelease_of(version, bound) && !bound.is_prerelease());
  case Operator::greater:
    return public_version > bound && !(is_post_of(version, bound) && !bound.has_post());
  case Operator::compatible: {
    Version prefix = bound.without_local();
    auto parts = prefix.release();
    parts.pop_back();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (version.part(i) != parts[i]) {
        return false;
      }
    }
    return version.epoch() == bound.epoch() && public_version >= bound;
  }
  }
  return false;
}

bool VersionRange::contains(const Version& version, bool with_prereleases) const {
  if (version.is_prerelease() && !with_prereleases && !names_prerelease()) {
    return false;
  }
  return std::all_of(clauses_.begin(), clauses_.end(),
                     [&](const Clause& clause) { return holds(clause, version); });
}

bool VersionRange::names_prerelease() const {
  return std::any_of(clauses_.begin(), clauses_.end(), [](const Clause& clause) {
    return clause.version.is_prerelease() && clause.op != Operator::not_equal;
  });
}

std::string VersionRange::text_of(const Clause& clause) {
  static constexpr std::string_view names[] = {"==", "==", "!=", "!=", "<",
                                               "<=", ">",  ">=", "~=", "==="};
  std::string result(names[static_cast<std::size_t>(clause.op)]);
  result += clause.op == Operator::arbitrary ? clause.arbitrary : clause.version.text();
  result += clause.op == Operator::prefix || clause.op == Operator::not_prefix ? ".*" : "";
  return result;
}

std::string VersionRange::text() const {
  std::string result;
  for (const auto& clause : clauses_) {
    result += (result.empty() ? "" : ",") + text_of(clause);
  }
  return result;
}

std::optional<std::pair<std::string, std::string>> VersionRange::contradiction() const {
  for (const auto& low : clauses_) {
    for (const auto& high : clauses_) {
      const bool is_low = low.op == Operator::greater || low.op == Operator::greater_equal ||
                          low.op == Operator::compatible;
      const bool is_high = high.op == Operator::less || high.op == Operator::less_equal;
      if (!is_low || !is_high) {
        continue;
      }
      const bool touch = low.op != Operator::greater && high.op == Operator::less_equal;
      if (low.version > high.version || (low.version == high.version && !touch)) {
        return std::pair(text_of(low), text_of(high));
      }
    }
  }
  return std::nullopt;
}

} // namespace cukit
