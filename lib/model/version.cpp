#include "model/version.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace cukit {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}
bool is_separator(char c) {
  return c == '.' || c == '-' || c == '_';
}

/// PEP 440 lets every ASCII white space stand around a version, form feeds too.
std::string_view strip(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(white);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(white) - first + 1);
}

/// Reads PEP 440's grammar from left to right over lower-case text.
class Reader {
public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take_separator() {
    if (rest_.empty() || !is_separator(rest_.front())) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  /// False when there is no digit or the number does not fit.
  bool number(std::int64_t& value) {
    std::size_t digits = 0;
    while (digits < rest_.size() && is_digit(rest_[digits])) {
      ++digits;
    }
    if (digits == 0) {
      return false;
    }
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + digits, value);
    too_large_ = too_large_ || error != std::errc();
    rest_.remove_prefix(digits);
    return error == std::errc();
  }
  std::string word() {
    std::size_t size = 0;
    while (size < rest_.size() && is_alnum(rest_[size])) {
      ++size;
    }
    std::string result(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return result;
  }
  bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }
  bool too_large() const { return too_large_; }
  std::string_view rest() const { return rest_; }
  void rewind(std::string_view to) { rest_ = to; }

private:
  std::string_view rest_;
  bool too_large_ = false;
};

// A separator and a letter sequence may or may not come before the number: 1.0-rc.1, 1.0rc1, 1.0RC.
bool phase(Reader& reader, std::initializer_list<std::pair<std::string_view, char>> names,
           char& kind, std::int64_t& value) {
  const auto before = reader.rest();
  reader.take_separator();
  for (const auto& [name, code] : names) {
    if (reader.take(name)) {
      kind = code;
      const auto after_name = reader.rest();
      reader.take_separator();
      if (!reader.number(value)) {
        reader.rewind(after_name);
        value = 0;
      }
      return true;
    }
  }
  reader.rewind(before);
  return false;
}

std::string trimmed_number(std::string_view digits) {
  const auto first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string(digits.substr(first));
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::weak_ordering compare_release(const std::vector<std::int64_t>& a,
                                   const std::vector<std::int64_t>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::int64_t left = i < a.size() ? a[i] : 0;
    const std::int64_t right = i < b.size() ? b[i] : 0;
    if (left != right) {
      return left <=> right;
    }
  }
  return std::weak_ordering::equivalent;
}

std::weak_ordering compare_local(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const bool left_number = all_digits(a[i]);
    const bool right_number = all_digits(b[i]);
    if (left_number != right_number) {
      return left_number ? std::weak_ordering::greater : std::weak_ordering::less;
    }
    if (left_number && a[i].size() != b[i].size()) {
      return a[i].size() <=> b[i].size(); // leading zeros are gone, so longer is larger
    }
    if (a[i] != b[i]) {
      return a[i].compare(b[i]) <=> 0;
    }
  }
  return a.size() <=> b.size();
}

} // namespace

Result<Version> Version::parse(std::string_view text) {
  const std::string normal = lower(strip(text));
  Reader reader(normal);
  reader.take('v');
  Version version;
  std::int64_t number = 0;
  bool valid = reader.number(number);
  if (valid && reader.take('!')) {
    version.epoch_ = number;
    valid = reader.number(number);
  }
  version.release_ = {number};
  while (valid && !reader.done()) {
    const auto before = reader.rest();
    if (!reader.take('.') || !reader.at_digit()) {
      reader.rewind(before);
      break;
    }
    valid = reader.number(number);
    version.release_.push_back(number);
  }
  if (valid) {
    phase(reader,
          {{"alpha", 'a'},
           {"a", 'a'},
           {"beta", 'b'},
           {"b", 'b'},
           {"preview", 'r'},
           {"pre", 'r'},
           {"rc", 'r'},
           {"c", 'r'}},
          version.pre_kind_, version.pre_);
    char ignored = 0;
    const auto before = reader.rest();
    if (reader.take('-') && reader.number(number)) {
      version.post_ = number; // 1.0-1 is a post release
    } else {
      reader.rewind(before);
      phase(reader, {{"post", 'p'}, {"rev", 'p'}, {"r", 'p'}}, ignored, version.post_);
    }
    phase(reader, {{"dev", 'd'}}, ignored, version.dev_);
    if (reader.take('+')) {
      do {
        auto word = reader.word();
        valid = valid && !word.empty();
        version.local_.push_back(all_digits(word) ? trimmed_number(word) : std::move(word));
      } while (valid && reader.take_separator());
    }
  }
  if (!valid || !reader.done() || reader.too_large()) {
    return fail(ErrorCode::usage, "`{}` is no version", printable(text.substr(0, 100)));
  }
  return version;
}

bool Version::is_prerelease() const {
  return pre_kind_ != 0 || dev_ >= 0;
}

std::string Version::text() const {
  std::string result = epoch_ != 0 ? fmt::format("{}!", epoch_) : "";
  result += fmt::format("{}", fmt::join(release_, "."));
  if (pre_kind_ != 0) {
    result += fmt::format("{}{}", pre_kind_ == 'r' ? "rc" : std::string(1, pre_kind_), pre_);
  }
  if (post_ >= 0) {
    result += fmt::format(".post{}", post_);
  }
  if (dev_ >= 0) {
    result += fmt::format(".dev{}", dev_);
  }
  if (!local_.empty()) {
    result += fmt::format("+{}", fmt::join(local_, "."));
  }
  return result;
}

std::string Version::major_minor() const {
  return fmt::format("{}.{}", major(), minor());
}

Version Version::without_local() const {
  Version result = *this;
  result.local_.clear();
  return result;
}

Version Version::without_dev() const {
  Version result = without_local();
  result.dev_ = -1;
  return result;
}

Version Version::without_post() const {
  Version result = without_dev();
  result.post_ = -1;
  return result;
}

std::weak_ordering Version::operator<=>(const Version& other) const {
  if (epoch_ != other.epoch_) {
    return epoch_ <=> other.epoch_;
  }
  if (const auto order = compare_release(release_, other.release_); order != 0) {
    return order;
  }
  // 1.0.dev1 < 1.0a1.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0.post1
  constexpr auto pre_rank = [](const Version& v) {
    if (v.pre_kind_ != 0) {
      return static_cast<int>(v.pre_kind_);
    }
    return v.dev_ >= 0 && v.post_ < 0 ? 0 : 127;
  };
  if (pre_rank(*this) != pre_rank(other)) {
    return pre_rank(*this) <=> pre_rank(other);
  }
  if (pre_ != other.pre_) {
    return pre_ <=> other.pre_;
  }
  if (post_ != other.post_) {
    return post_ <=> other.post_;
  }
  constexpr auto dev_rank = [](const Version& v) {
    return v.dev_ >= 0 ? v.dev_ : std::numeric_limits<std::int64_t>::max();
  };
  if (dev_rank(*this) != dev_rank(other)) {
    return dev_rank(*this) <=> dev_rank(other);
  }
  return compare_local(local_, other.local_);
}

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

std::string VersionRange::text() const {
  static constexpr std::string_view names[] = {"==", "==", "!=", "!=", "<",
                                               "<=", ">",  ">=", "~=", "==="};
  std::string result;
  for (const auto& clause : clauses_) {
    result += result.empty() ? "" : ",";
    result += names[static_cast<std::size_t>(clause.op)];
    result += clause.op == Operator::arbitrary ? clause.arbitrary : clause.version.text();
    result += clause.op == Operator::prefix || clause.op == Operator::not_prefix ? ".*" : "";
  }
  return result;
}

} // namespace cukit
