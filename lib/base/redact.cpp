#include "base/redact.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit {

namespace {

constexpr std::string_view k_ends = "/?#\\"; // of an authority, for one parser or another

struct Address {
  std::string_view scheme; ///< with its slashes; empty: forgotten, or a path
  std::string_view rest;
  std::size_t login = 0; ///< length of the login at the front of `rest`, with its @
  bool is_loose = false;
};

/// A name with a dot, localhost or a number in brackets, with or without a port: an @ behind it
/// belongs to the path.
bool is_surely_host(std::string_view authority) {
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const auto colon =
      std::min(authority.find(':', std::min(bracket, authority.size())), authority.size());
  const auto name = authority.substr(0, colon);
  const auto port = authority.substr(std::min(colon + 1, authority.size()));
  return port.find_first_not_of("0123456789") == std::string_view::npos &&
         (name.find('.') != std::string_view::npos || lower(name) == "localhost" ||
          name.ends_with(']'));
}

Address taken_apart(std::string_view text) {
  Address result{.scheme = {}, .rest = text};
  const auto colon = text.find(":/");
  if (colon != std::string_view::npos && text.find_first_of("/?#@") == colon + 1) {
    const auto start = std::min(text.find_first_not_of('/', colon + 1), text.size());
    result.scheme = text.substr(0, start);
    result.rest = text.substr(start);
  } else if (text.starts_with("//")) {
    result.scheme = text.substr(0, 2);
    result.rest = text.substr(2);
  } else if (text.starts_with('/')) {
    return result; // a path
  }
  const auto at = result.rest.rfind('@');
  const auto authority = result.rest.substr(0, result.rest.find_first_of(k_ends));
  const bool has_password = authority.find(':') != std::string_view::npos;
  if (at == std::string_view::npos || lower(result.scheme).starts_with("file:") ||
      (result.scheme.empty() && !has_password)) { // `name@1.2`
    return result;
  }
  if (at < authority.size()) {
    result.login = at + 1;
    return result;
  }
  // An @ behind the authority: of the path, or the true end of the login.
  const auto inner = authority.rfind('@');
  const auto host = inner == std::string_view::npos ? 0 : inner + 1;
  const bool has_path =
      authority.size() < result.rest.size() && result.rest[authority.size()] == '/';
  const bool is_bare = inner == std::string_view::npos && !has_password && has_path;
  result.is_loose = !is_bare && !is_surely_host(authority.substr(host));
  result.login = result.is_loose ? at + 1 : host;
  return result;
}

} // namespace

bool has_loose_login(std::string_view address) {
  return taken_apart(trim(address)).is_loose;
}

bool has_login(std::string_view address) {
  return taken_apart(trim(address)).login > 0;
}

std::string redact_url(std::string_view url) {
  const auto parts = taken_apart(url);
  const auto rest = parts.rest.substr(parts.login);
  return printable(parts.scheme) + printable(rest.substr(0, rest.find_first_of("?#")));
}

} // namespace cukit
