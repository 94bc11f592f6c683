#include "model/version.hpp"

#include "base/strings.hpp"
#include "model/version_parts.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace cukit {

namespace {

bool is_alnum(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}
bool is_separator(char c) {
  return c == '.' || c == '-' || c == '_';
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

} // namespace cukit
