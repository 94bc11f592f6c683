// Small text helpers that several modules need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cukit {

[[nodiscard]] std::string_view trim(std::string_view text); ///< spaces, tabs, CR and LF
[[nodiscard]] std::vector<std::string_view> split(std::string_view text,
                                                  char separator); ///< keeps empty parts
[[nodiscard]] std::vector<std::string_view>
split_words(std::string_view text); ///< at white space, no empty parts
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// "A", "A and B", "A, B and C"
[[nodiscard]] std::string join_with_and(const std::vector<std::string>& parts);
[[nodiscard]] std::string lower(std::string_view text); ///< ASCII only, whatever the locale

/// Controls (unicode.hpp) become \xNN or \uNNNN: text from outside cannot drive the terminal.
[[nodiscard]] std::string printable(std::string_view text);
/// A URL without login and query, also of a misspelt one: what may be shown, logged or stored.
[[nodiscard]] std::string redact_url(std::string_view url);
/// 1.2 MB, 640 kB: decimal units, as download sizes are quoted.
[[nodiscard]] std::string human_bytes(unsigned long long bytes);

[[nodiscard]] bool is_utf8(std::string_view text);
/// Offset of the first byte that is not UTF-8, or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text);

/// The known word nearest to `word` (edit distance at most a third of its length, at least 1), or
/// empty.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& known);

} // namespace cukit
