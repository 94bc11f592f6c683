#include "http/failure.hpp"

#include "base/redact.hpp"
#include "base/strings.hpp"
#include "http/url.hpp"

#include <algorithm>
#include <array>

namespace cukit::http {

namespace {

// Not among them: CURLE_OUT_OF_MEMORY, which is also the code for a header line without end, and
// CURLE_UNSUPPORTED_PROTOCOL, which is an answer without a status line. Both come from a connection
// on which an earlier answer had more bytes than it announced.
constexpr std::array k_final_codes{CURLE_FAILED_INIT,
                                   CURLE_URL_MALFORMAT,
                                   CURLE_NOT_BUILT_IN,
                                   CURLE_WRITE_ERROR,
                                   CURLE_ABORTED_BY_CALLBACK,
                                   CURLE_BAD_FUNCTION_ARGUMENT,
                                   CURLE_TOO_MANY_REDIRECTS,
                                   CURLE_UNKNOWN_OPTION,
                                   CURLE_SSL_ENGINE_NOTFOUND,
                                   CURLE_SSL_ENGINE_SETFAILED,
                                   CURLE_SSL_CERTPROBLEM,
                                   CURLE_SSL_CIPHER,
                                   CURLE_PEER_FAILED_VERIFICATION,
                                   CURLE_BAD_CONTENT_ENCODING,
                                   CURLE_FILESIZE_EXCEEDED,
                                   CURLE_LOGIN_DENIED,
                                   CURLE_SSL_CACERT_BADFILE,
                                   CURLE_SSL_CRL_BADFILE,
                                   CURLE_SSL_ISSUER_ERROR,
                                   CURLE_SSL_PINNEDPUBKEYNOTMATCH,
                                   CURLE_SSL_INVALIDCERTSTATUS,
                                   CURLE_SSL_CLIENTCERT};

constexpr const char* k_certificate_hint =
    "if a proxy or mirror of yours signs with an authority of its own, point CUKIT_CA_BUNDLE (or "
    "CURL_CA_BUNDLE, "
    "SSL_CERT_FILE) at a PEM file with it; check this machine's clock too";

std::string host_of(const std::string& url) {
  const auto place = place_of(url);
  return place ? printable(place->host) : redact_url(url);
}

struct Words {
  std::string message;
  std::string hint;
};

Words words_for(CURLcode code, const std::string& host) {
  switch (code) {
  case CURLE_COULDNT_RESOLVE_HOST:
    return {fmt::format("the host {} is not found", host),
            "check the network and the spelling; behind a proxy, set https_proxy"};
  case CURLE_COULDNT_RESOLVE_PROXY:
    return {"the proxy is not found", "check https_proxy, http_proxy and all_proxy"};
  case CURLE_COULDNT_CONNECT:
    return {fmt::format("cannot connect to {}", host),
            "check the network; behind a proxy, set https_proxy"};
  case CURLE_OPERATION_TIMEDOUT:
    return {fmt::format("{} is too slow or silent", host),
            "run the same command again later, or use another mirror"};
  case CURLE_PARTIAL_FILE:
  case CURLE_GOT_NOTHING:
  case CURLE_RECV_ERROR:
  case CURLE_SEND_ERROR:
    return {fmt::format("the connection to {} broke", host),
            "run the same command again: what has arrived is kept"};
  case CURLE_OUT_OF_MEMORY:
  case CURLE_UNSUPPORTED_PROTOCOL:
  case CURLE_WEIRD_SERVER_REPLY:
    return {fmt::format("the answer of {} cannot be understood", host),
            "run the same command again later, or use another mirror"};
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_ISSUER_ERROR:
  case CURLE_SSL_INVALIDCERTSTATUS:
    return {fmt::format("the certificate of {} is not trusted", host), k_certificate_hint};
  case CURLE_SSL_CACERT_BADFILE:
    return {"the file with trusted certificates cannot be used", k_certificate_hint};
  case CURLE_SSL_CONNECT_ERROR:
    return {fmt::format("no secure connection to {} (TLS 1.2 or newer is needed)", host),
            k_certificate_hint};
  default:
    return {fmt::format("the transfer from {} failed: {}", host, libcurl().easy_strerror(code)),
            {}};
  }
}

constexpr const char* k_portal_hint =
    "a network's login page (captive portal) answers: log in with a browser, then run the same "
    "command again";
constexpr const char* k_proxy_login_hint =
    "the proxy wants a login: https_proxy=http://USER:PASSWORD@HOST:PORT";

/// What a page says about itself, for a person; empty: nothing.
std::string title_of(std::string_view page) {
  const auto small = lower(page);
  const auto tag = small.find("<title");
  const auto start = tag == std::string::npos ? tag : small.find('>', tag);
  const auto end = start == std::string::npos ? start : small.find('<', start);
  if (end == std::string::npos) {
    return {};
  }
  std::vector<std::string> words;
  for (const auto word : split_words(page.substr(start + 1, end - start - 1))) {
    words.emplace_back(word);
  }
  return printable(join(words, " ").substr(0, 120));
}

std::string hint_for_refusal(const Refused& refused, const std::string& url) {
  const bool is_asked = refused.head.status == 401 || refused.head.asks_for_login;
  if (is_asked) {
    return has_login(url)
               ? "the server does not take the login in the URL of the index: check user "
                 "name and password"
               : "it wants a login: put user name and password into the URL of the index "
                 "(they are never shown), or use --netrc";
  }
  if (refused.head.is_html()) {
    return refused.by_proxy
               ? "a page of HTML says so and asks for no login: a gateway, the proxy or the server "
                 "blocks this address; ask whoever runs the network, check https_proxy and "
                 "no_proxy, "
                 "or name another index or mirror"
               : "a page of HTML says so and asks for no login: a gateway, a firewall or the "
                 "server "
                 "blocks this address; ask whoever runs the network, or name another index or "
                 "mirror";
  }
  return "the server gives this file to nobody who asks like this, and asks for no login: check "
         "the "
         "address, or name another index or mirror";
}

std::string hint_for(const Refused& refused, const std::string& url) {
  const int status = refused.head.status;
  switch (status) {
  case 401:
  case 403:
    return hint_for_refusal(refused, url);
  case 404:
  case 410:
    return "the file is gone from there; name another source with --index-url";
  case 451:
    return "the server withholds it for legal reasons, often by country: name another index or "
           "mirror";
  case 511:
    return k_portal_hint;
  default:
    return status == 429 || status >= 500
               ? "run the same command again later, or use another mirror"
               : "";
  }
}

} // namespace

bool is_transient_code(CURLcode code) {
  return code != CURLE_OK &&
         std::find(k_final_codes.begin(), k_final_codes.end(), code) == k_final_codes.end();
}

Error transport_error(CURLcode code, std::string_view detail, const std::string& url) {
  auto words = words_for(code, host_of(url));
  Error error{
      .code = ErrorCode::source, .message = std::move(words.message), .where = redact_url(url)};
  if (!detail.empty() && detail.find('@') == std::string_view::npos) { // no login in its words
    error.causes.push_back(printable(detail));
  }
  error.hint = std::move(words.hint);
  return error;
}

Error status_error(const Refused& refused, const std::string& url) {
  const int status = refused.head.status;
  if (status == 407) {
    return proxy_error(status, url);
  }
  Error error{.code = ErrorCode::source, .message = {}, .where = redact_url(url)};
  error.message = fmt::format("status {} from {}", status, redact_url(url));
  if (refused.retry_after) {
    error.causes.push_back(
        fmt::format("the server asks to wait {} s", refused.retry_after->count()));
  }
  if (const auto title = refused.head.is_html() ? title_of(refused.page) : ""; !title.empty()) {
    error.causes.push_back(fmt::format("the page that came is called `{}`", title));
  }
  error.hint = hint_for(refused, url);
  return error;
}

Error proxy_error(int status, const std::string& url) {
  Error error{.code = ErrorCode::source, .message = {}, .where = redact_url(url)};
  error.message = fmt::format("status {} from the proxy on the way to {}", status, redact_url(url));
  error.hint = status == 407 ? k_proxy_login_hint : "check https_proxy, http_proxy and no_proxy";
  return error;
}

Error portal_error(const std::string& url) {
  Error error{.code = ErrorCode::source, .message = {}, .where = redact_url(url)};
  error.message =
      fmt::format("a page of HTML instead of what was asked for from {}", redact_url(url));
  error.hint = k_portal_hint;
  return error;
}

} // namespace cukit::http
