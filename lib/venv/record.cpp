#include "venv/record.hpp"

#include "archive/record.hpp"
#include "base/number.hpp"
#include "base/strings.hpp"

#include <algorithm>

namespace cukit::venv {

namespace {

/// The path at the beginning of a line, and what stands behind its comma.
struct Line {
  std::string path;
  std::string_view rest;
};

std::optional<Line> take_path(std::string_view line) {
  if (!line.starts_with('"')) {
    const auto comma = line.find(',');
    return comma == std::string_view::npos
               ? std::nullopt
               : std::optional(Line{std::string(line.substr(0, comma)), line.substr(comma + 1)});
  }
  Line result;
  line.remove_prefix(1);
  while (true) { // a quote inside is doubled
    const auto quote = line.find('"');
    if (quote == std::string_view::npos) {
      return std::nullopt;
    }
    result.path += line.substr(0, quote);
    line.remove_prefix(quote + 1);
    if (!line.starts_with('"')) {
      break;
    }
    result.path += '"';
    line.remove_prefix(1);
  }
  if (!line.starts_with(',')) {
    return std::nullopt;
  }
  result.rest = line.substr(1);
  return result;
}

/// Without padding.
std::string urlsafe_base64(const Sha256& digest) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  unsigned bits = 0;
  unsigned count = 0;
  for (const auto byte : digest.bytes()) {
    bits = (bits << 8U | byte) & 0xffffU;
    for (count += 8; count >= 6; count -= 6) {
      out += digits[bits >> (count - 6) & 63U];
    }
  }
  return count == 0 ? out : out + digits[bits << (6 - count) & 63U];
}

} // namespace

void for_each_row(std::string_view record,
                  const std::function<bool(std::string_view path)>& is_wanted,
                  const std::function<void(RecordRow row)>& use) {
  while (!record.empty()) {
    const auto end = std::min(record.find('\n'), record.size());
    const auto line = trim(record.substr(0, end));
    record.remove_prefix(std::min(end + 1, record.size()));
    if (line.empty() || !is_wanted(line.substr(line.front() == '"' ? 1 : 0))) {
      continue;
    }
    auto taken = take_path(line);
    const auto comma = taken ? taken->rest.find(',') : std::string_view::npos;
    if (comma == std::string_view::npos) {
      continue;
    }
    constexpr std::string_view prefix = "sha256=";
    const auto digest = taken->rest.substr(0, comma);
    use({.path = std::move(taken->path),
         .sha256 = digest.starts_with(prefix) ? archive::decode_digest(digest.substr(prefix.size()))
                                              : std::nullopt,
         .size = whole_number(taken->rest.substr(comma + 1))});
  }
}

std::string record_line(std::string_view path, const std::optional<Sha256>& sha256,
                        std::uint64_t size) {
  std::string field(path);
  if (path.find_first_of(",\"\r\n") != std::string_view::npos) {
    field = "\"";
    for (const char c : path) {
      field += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    field += '"';
  }
  return sha256 ? fmt::format("{},sha256={},{}\n", field, urlsafe_base64(*sha256), size)
                : field + ",,\n";
}

bool leads_out(std::string_view path, std::string_view prefix) {
  const auto normal = fs::path(path).lexically_normal();
  if (normal.is_absolute()) {
    const auto inside = std::string(prefix) + (prefix.ends_with('/') ? "" : "/");
    return !normal.string().starts_with(inside);
  }
  constexpr auto to_prefix = 3; // lib, python3.X, site-packages
  return std::count(normal.begin(), normal.end(), fs::path("..")) > to_prefix;
}

} // namespace cukit::venv
