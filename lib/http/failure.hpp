// What went wrong with a transfer, in words: what, where, and what to do next. Nothing here ever
// shows a user name or a password.
#pragma once

#include "http/client.hpp"
#include "http/head.hpp"
#include "http/libcurl.hpp"

namespace cukit::http {

/// The connection is to blame and another one may work; certificates, protocols and our own
/// refusals are not of that kind.
bool is_transient_code(CURLcode code);

Error transport_error(CURLcode code, std::string_view detail, const std::string& url);
/// An answer that is no success.
struct Refused {
  const Head& head;
  std::string_view page; ///< its beginning
  std::optional<std::chrono::seconds> retry_after;
  bool by_proxy = false; ///< a proxy is configured on the way
};
Error status_error(const Refused& refused, const std::string& url);
Error proxy_error(int status, const std::string& url);
Error portal_error(const std::string& url);

} // namespace cukit::http
