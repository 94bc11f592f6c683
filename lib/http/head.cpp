#include "http/head.hpp"

#include "base/number.hpp"
#include "base/strings.hpp"
#include "http/client.hpp"

namespace cukit::http {

namespace {

int parse_status(std::string_view line) {
  const auto words = split_words(line);
  const auto number = words.size() < 2 ? std::nullopt : whole_number(words[1]);
  return number && *number < 1000 ? static_cast<int>(*number) : 0;
}

} // namespace

std::optional<ContentRange> parse_content_range(std::string_view value) {
  value = trim(value);
  if (lower(value.substr(0, 6)) != "bytes ") {
    return std::nullopt;
  }
  value = trim(value.substr(6));
  const auto dash = value.find('-');
  const auto slash = value.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) {
    return std::nullopt;
  }
  const auto first = whole_number(value.substr(0, dash));
  const auto last = whole_number(value.substr(dash + 1, slash - dash - 1));
  const auto total = value.substr(slash + 1);
  ContentRange range;
  range.total = whole_number(total);
  if (!first || !last || *first > *last ||
      (total != "*" && (!range.total || *range.total <= *last))) {
    return std::nullopt;
  }
  range.first = *first;
  range.last = *last;
  return range;
}

bool is_strong_etag(std::string_view etag) {
  return etag.size() >= 2 && etag.front() == '"' && etag.back() == '"' &&
         etag.substr(1, etag.size() - 2).find('"') == std::string_view::npos;
}

void Head::take_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = Head{};
    status = parse_status(line);
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) {
    return;
  }
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "etag") {
    etag = std::string(value);
  } else if (name == "last-modified") {
    last_modified = std::string(value);
  } else if (name == "content-type") {
    content_type = lower(trim(value.substr(0, value.find(';'))));
  } else if (name == "content-encoding") {
    content_encoding = lower(value);
  } else if (name == "www-authenticate") {
    asks_for_login = !value.empty();
  } else if (name == "content-length") {
    content_length = whole_number(value);
  } else if (name == "content-range") {
    content_range = parse_content_range(value);
  }
}

std::optional<std::uint64_t> Head::total() const {
  if (status == 206) {
    return content_range ? content_range->total : std::nullopt;
  }
  return is_encoded() ? std::nullopt : content_length;
}

} // namespace cukit::http
