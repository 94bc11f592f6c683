// What went wrong with a transfer, in words: what, where, and what to do next. Nothing here ever
// shows a user name or a password.
#pragma once

#include "http/client.hpp"
#include "http/libcurl.hpp"

namespace cukit::http {

/// The connection is to blame and another one may work; certificates, protocols and our own
/// refusals are not of that kind.
bool is_transient_code(CURLcode code);

Error transport_error(CURLcode code, std::string_view detail, const std::string& url);
Error status_error(int status, std::optional<std::chrono::seconds> retry_after,
                   const std::string& url);
Error proxy_error(int status, const std::string& url);
Error portal_error(const std::string& url);

} // namespace cukit::http
