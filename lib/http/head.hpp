// The head of an answer: status and the few header fields that matter, parsed by ourselves, because
// libcurl hands over a 206 with another range than was asked for without a word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cukit::http {

struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<std::uint64_t> total; ///< absent for `*`
};

struct Head {
  int status = 0;
  std::string etag;
  std::string last_modified;    ///< as it stands
  std::string content_type;     ///< lower case, without parameters
  std::string content_encoding; ///< lower case
  bool asks_for_login = false;  ///< it has a WWW-Authenticate
  std::optional<std::uint64_t> content_length;
  std::optional<ContentRange> content_range;

  /// One line of the answer, also of the status line of each answer in a row (100, then 200), which
  /// begins anew.
  void take_line(std::string_view line);
  [[nodiscard]] bool is_html() const {
    return content_type == "text/html" || content_type == "application/xhtml+xml";
  }
  [[nodiscard]] bool is_encoded() const {
    return !content_encoding.empty() && content_encoding != "identity";
  }
  /// Size of the whole file, as far as the answer tells.
  [[nodiscard]] std::optional<std::uint64_t> total() const;
};

/// `bytes 0-99/1234` or `bytes 0-99/*`; anything else, also numbers that contradict each other, is
/// nothing.
std::optional<ContentRange> parse_content_range(std::string_view value);

} // namespace cukit::http
