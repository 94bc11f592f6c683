#include "http/url.hpp"

#include "base/strings.hpp"
#include "http/client.hpp"
#include "http/libcurl.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <memory>

namespace cukit::http {

namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { libcurl().url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, UrlDeleter>;

UrlHandle parse_by_curl(const std::string& url) {
  UrlHandle handle(libcurl().url());
  if (handle == nullptr || libcurl().url_set(handle.get(), CURLUPART_URL, url.c_str(),
                                             CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return nullptr;
  }
  return handle;
}

std::string part_of(CURLU* handle, CURLUPart part) {
  char* text = nullptr;
  if (libcurl().url_get(handle, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK || text == nullptr) {
    return {};
  }
  const std::unique_ptr<char, void (*)(void*)> owner(text, libcurl().free);
  return text;
}

/// The five components of RFC 3986, appendix B; `has_` tells an empty one from an absent one.
struct Components {
  std::string scheme;
  std::string authority;
  std::string path;
  std::string query;    ///< with its ?
  std::string fragment; ///< with its #
  bool has_authority = false;
};

bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
         });
}

std::string take_from(std::string_view& text, std::string_view first_of) {
  const auto at = std::min(text.find_first_of(first_of), text.size());
  std::string rest(text.substr(at));
  text = text.substr(0, at);
  return rest;
}

Components split_url(std::string_view text) {
  Components parts;
  parts.fragment = take_from(text, "#");
  parts.query = take_from(text, "?");
  const auto colon = text.find_first_of(":/");
  if (colon != std::string_view::npos && text[colon] == ':' && is_scheme(text.substr(0, colon))) {
    parts.scheme = lower(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    parts.has_authority = true;
    parts.path = take_from(text, "/");
    parts.authority = std::string(text);
  } else {
    parts.path = std::string(text);
  }
  return parts;
}

/// RFC 3986, 5.2.4.
std::string without_dots(const std::string& path) {
  if (path.empty()) {
    return path;
  }
  std::vector<std::string> kept;
  bool ends_in_folder = false;
  const auto segments = split(path, '/');
  for (std::size_t i = path.starts_with('/') ? 1 : 0; i < segments.size(); ++i) {
    const auto segment = segments[i];
    ends_in_folder = segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) {
      kept.pop_back();
    } else if (!ends_in_folder) {
      kept.emplace_back(segment);
    }
  }
  std::string result;
  for (const auto& segment : kept) {
    result += "/" + segment;
  }
  return result.empty() || ends_in_folder ? result + "/" : result;
}

std::string merged_path(const Components& base, const std::string& path) {
  if (path.starts_with('/')) {
    return path;
  }
  if (base.has_authority && base.path.empty()) {
    return "/" + path;
  }
  return base.path.substr(0, base.path.rfind('/') + 1) + path;
}

Components joined(const Components& base, Components link) {
  if (!link.scheme.empty()) {
    link.path = without_dots(link.path);
    return link;
  }
  link.scheme = base.scheme;
  if (link.has_authority) {
    link.path = without_dots(link.path);
    return link;
  }
  link.authority = base.authority;
  link.has_authority = base.has_authority;
  if (link.path.empty()) {
    link.path = base.path;
    link.query = link.query.empty() ? base.query : link.query;
  } else {
    link.path = without_dots(merged_path(base, link.path));
  }
  return link;
}

} // namespace

Result<Place> place_of(const std::string& url) {
  const UrlHandle handle = parse_by_curl(url);
  Place place;
  if (handle != nullptr) {
    place =
        Place{lower(part_of(handle.get(), CURLUPART_SCHEME)),
              lower(part_of(handle.get(), CURLUPART_HOST)), part_of(handle.get(), CURLUPART_PORT)};
  }
  if (place.scheme.empty() || (place.host.empty() && place.scheme != "file")) {
    return fail(ErrorCode::source, "`{}` is no URL with a host", redact_url(url));
  }
  return place;
}

bool is_loopback(const Place& place) {
  in_addr number{};
  return place.host == "localhost" || place.host == "[::1]" ||
         (place.host.starts_with("127.") && ::inet_pton(AF_INET, place.host.c_str(), &number) == 1);
}

bool is_loopback(const std::string& url) {
  const auto place = place_of(url);
  return place && is_loopback(*place);
}

std::string with_login_of(const std::string& from, const std::string& url) {
  const UrlHandle source = parse_by_curl(from);
  const UrlHandle target = parse_by_curl(url);
  const auto from_place = place_of(from);
  const auto to_place = place_of(url);
  if (!from_place || !to_place || *from_place != *to_place ||
      !part_of(target.get(), CURLUPART_USER).empty()) {
    return url;
  }
  const std::string user = part_of(source.get(), CURLUPART_USER);
  const std::string password = part_of(source.get(), CURLUPART_PASSWORD);
  if (user.empty() && password.empty()) {
    return url;
  }
  // Still percent-encoded as they were read, so that they go back as they are.
  const bool is_set =
      libcurl().url_set(target.get(), CURLUPART_USER, user.c_str(), 0) == CURLUE_OK &&
      libcurl().url_set(target.get(), CURLUPART_PASSWORD, password.c_str(), 0) == CURLUE_OK;
  std::string result = is_set ? part_of(target.get(), CURLUPART_URL) : std::string();
  return result.empty() ? url : result;
}

Result<std::string> resolve_url(const std::string& base, const std::string& link) {
  const Components from = split_url(trim(base));
  const Components to = joined(from, split_url(trim(link)));
  if (to.scheme != "https" && to.scheme != "http") {
    return fail(ErrorCode::source, "a link to `{}` is not followed: only https is",
                redact_url(link));
  }
  std::string url = to.scheme + "://" + to.authority + to.path + to.query + to.fragment;
  if (to.authority.empty()) {
    return fail(ErrorCode::source, "the link `{}` names no host", redact_url(url));
  }
  if (from.scheme == "https" && to.scheme == "http") {
    return fail(ErrorCode::source, "a page read over https links to plain http: {}",
                redact_url(url));
  }
  if (to.scheme == "http" && is_loopback(url) && !is_loopback(base)) {
    return fail(ErrorCode::source, "a page of another machine links to this one: {}",
                redact_url(url));
  }
  return url;
}

std::string url_file_name(const std::string& url) {
  const Components parts = split_url(url);
  const std::string raw = parts.path.substr(parts.path.rfind('/') + 1);
  std::string name;
  const auto value = [](char c) {
    static constexpr std::string_view digits = "0123456789abcdef";
    return digits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
  };
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const auto high = raw[i] == '%' && i + 2 < raw.size() ? value(raw[i + 1]) : std::string::npos;
    const auto low = high == std::string::npos ? high : value(raw[i + 2]);
    if (low == std::string::npos) {
      name += raw[i];
    } else {
      name += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  // An encoded slash must not become a path, nor an encoded NUL the end of a name.
  return name.find_first_of(std::string_view("/\0", 2)) == std::string::npos ? name : raw;
}

} // namespace cukit::http
