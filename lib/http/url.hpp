// What the transfers must know about a URL. The host is found by libcurl's own parser, so that a
// check and the transfer after it cannot mean two different machines.
#pragma once

#include "base/result.hpp"

#include <string>

namespace cukit::http {

struct Place {
  std::string scheme; ///< lower case
  std::string host;   ///< lower case, IPv6 in brackets
  std::string port;   ///< the scheme's own when the URL names none
  bool operator==(const Place&) const = default;
};

/// Only what has a scheme and a host is taken.
Result<Place> place_of(const std::string& url);
bool is_loopback(const Place& place);

/// `url` with the user name and password of `from`, unless it has its own or the two are different
/// places.
std::string with_login_of(const std::string& from, const std::string& url);

} // namespace cukit::http
