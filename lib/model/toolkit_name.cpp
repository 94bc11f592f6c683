#include "model/toolkit_name.hpp"

#include <algorithm>

namespace cukit {

namespace {

constexpr std::size_t k_most_bytes = 64;

bool fits(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

} // namespace

bool is_manifest_file(std::string_view text) {
  return text.ends_with(".yaml") || text.ends_with(".yml");
}

bool is_toolkit_name(std::string_view text) {
  return !text.empty() && text.size() <= k_most_bytes && text.front() != '.' &&
         text.front() != '-' && std::all_of(text.begin(), text.end(), fits) &&
         !is_manifest_file(text);
}

} // namespace cukit
