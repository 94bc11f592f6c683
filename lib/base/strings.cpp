#include "base/strings.hpp"

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
  const bool utf8 = is_utf8(text);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (!utf8 && byte >= 0x80)) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

std::string redact_url(std::string_view url) {
  std::string result(url.substr(0, url.find_first_of("?#")));
  const auto scheme = result.find("://");
  if (scheme != std::string::npos) {
    const auto start = scheme + 3;
    const auto authority_end = std::min(result.find('/', start), result.size());
    const auto at = result.rfind('@', authority_end);
    if (at != std::string::npos && at >= start && at < authority_end) {
      result.erase(start, at + 1 - start);
    }
  }
  return printable(result);
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
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i]);
    std::size_t more = 0;
    char32_t value = 0;
    char32_t least = 0;
    if (byte < 0x80) {
      ++i;
      continue;
    }
    if (byte >= 0xc2 && byte < 0xe0) {
      more = 1, value = byte & 0x1fU, least = 0x80;
    } else if (byte >= 0xe0 && byte < 0xf0) {
      more = 2, value = byte & 0x0fU, least = 0x800;
    } else if (byte >= 0xf0 && byte < 0xf5) {
      more = 3, value = byte & 0x07U, least = 0x10000;
    } else {
      return i;
    }
    if (text.size() - i <= more) {
      return i;
    }
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0U) != 0x80) {
        return i;
      }
      value = (value << 6U) | (next & 0x3fU);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      return i;
    }
    i += more + 1;
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
