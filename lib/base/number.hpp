// Decimal numbers in text.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cukit {

/// The number that the whole of `text` is, whatever the locale; nothing where there is anything
/// else, nothing at all, or more than T holds. A minus only of a signed T, never a plus.
template <std::integral T = std::uint64_t>
[[nodiscard]] std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

} // namespace cukit
