#include "base/strings.hpp"

#include "base/unicode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cukit {

namespace {
constexpr std::string_view k_white = " \t\r\n";
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(k_white);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(k_white) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!(text = trim(text)).empty()) {
    const auto end = std::min(text.find_first_of(k_white), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string join_with_and(const std::vector<std::string>& parts) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (auto& c : result) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_character(text);
    const auto bytes = std::max<std::size_t>(character.bytes, 1);
    if (character.bytes == 0 || (character.bytes == 1 && is_control(character.value))) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_control(character.value)) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(character.value));
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::string human_bytes(unsigned long long bytes) {
  if (bytes < 1000) {
    return fmt::format("{} B", bytes);
  }
  static constexpr const char* units[] = {"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit < 3) {
    value /= 1000;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f} {}", value, units[unit])
                      : fmt::format("{:.0f} {}", value, units[unit]);
}

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto bytes = first_character(text.substr(i)).bytes;
    if (bytes == 0) {
      return i;
    }
    i += bytes;
  }
  return std::string_view::npos;
}

bool is_utf8(std::string_view text) {
  return first_invalid_utf8(text) == std::string_view::npos;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    // Edit distance with neighbouring letters swapped counted as one slip.
    std::vector<std::size_t> before(candidate.size() + 1);
    std::vector<std::size_t> previous(candidate.size() + 1);
    std::vector<std::size_t> current(candidate.size() + 1);
    std::iota(previous.begin(), previous.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      current[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t cost = word[i - 1] == candidate[j - 1] ? 0 : 1;
        current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost});
        if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1]) {
          current[j] = std::min(current[j], before[j - 2] + 1);
        }
      }
      before = previous;
      previous = current;
    }
    if (previous[candidate.size()] < best_distance) {
      best_distance = previous[candidate.size()];
      best = candidate;
    }
  }
  return best;
}

} // namespace cukit
