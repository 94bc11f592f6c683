#include "source/stated.hpp"

#include "base/redact.hpp"
#include "base/strings.hpp"

#include <algorithm>

namespace cukit::source {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

tl::unexpected<Error> refuse(std::string_view text, std::string origin, std::string_view why,
                             std::string hint = {}) {
  Error error{.code = ErrorCode::source,
              .message = fmt::format("`{}` {}", redact_url(text).substr(0, 300), why)};
  error.where = std::move(origin);
  error.hint = hint.empty()
                   ? "write https://HOST/simple or the path of a folder, without quotes or comments"
                   : std::move(hint);
  return tl::unexpected<Error>(std::move(error));
}

bool is_scheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

std::string folder_text(const fs::path& path) {
  auto text = path.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

} // namespace

Result<Address> address(std::string_view text, std::string origin, const fs::path& base) {
  text = trim(text);
  if (text.empty()) {
    return refuse(text, std::move(origin), "is no address");
  }
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (has_control || text.front() == '"' || text.front() == '\'') {
    return refuse(text, std::move(origin), "holds quotes or control characters");
  }
  if (has_loose_login(text)) {
    return refuse(text, std::move(origin), "has a login that cannot be told from its host",
                  k_loose_login_hint);
  }
  const auto colon = text.find("://");
  const auto scheme =
      colon == std::string_view::npos ? std::string() : lower(text.substr(0, colon));
  if (scheme == "http" || scheme == "https") {
    std::string url = scheme + std::string(text.substr(colon));
    while (url.ends_with('/')) {
      url.pop_back();
    }
    if (url.find(' ') != std::string::npos || url.size() <= scheme.size() + 3) {
      return refuse(text, std::move(origin), "is no address of an index");
    }
    return Address{.location = std::move(url), .origin = std::move(origin), .named_by_user = true};
  }
  if (colon == std::string_view::npos && has_login(text)) {
    return refuse(text, std::move(origin), "has a login, but no https:// in front of it");
  }
  std::string path(text);
  if (lower(text.substr(0, 5)) == "file:") {
    auto rest = text.substr(5);
    if (rest.starts_with("//localhost/")) {
      rest.remove_prefix(std::string_view("//localhost").size());
    } else if (rest.starts_with("///")) {
      rest.remove_prefix(2);
    }
    if (!rest.starts_with('/') || rest.starts_with("//")) {
      return refuse(text, std::move(origin), "names a file on another machine");
    }
    path = percent_decoded(rest);
    if (path.find('\0') != std::string::npos) {
      return refuse(text, std::move(origin), "holds a control character");
    }
  } else if (is_scheme(scheme)) {
    return refuse(text, std::move(origin), "has a scheme other than https, http or file");
  }
  return Address{
      .location = folder_text(base / path), .origin = std::move(origin), .named_by_user = true};
}

fs::path working_folder() {
  std::error_code error;
  auto folder = fs::current_path(error);
  return error ? fs::path("/proc/self/cwd") : folder; // a deleted one: nothing is found below it
}

std::optional<bool> truth(std::string_view text) {
  const auto word = lower(trim(text));
  for (const auto* yes : {"y", "yes", "t", "true", "on", "1"}) {
    if (word == yes) {
      return true;
    }
  }
  for (const auto* no : {"n", "no", "f", "false", "off", "0"}) {
    if (word == no) {
      return false;
    }
  }
  return std::nullopt;
}

fs::path below(const fs::path& root, const fs::path& path) {
  return root / path.relative_path();
}

} // namespace cukit::source
