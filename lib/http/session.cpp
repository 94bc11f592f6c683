#include "http/session.hpp"

#include "base/files.hpp"
#include "base/redact.hpp"
#include "base/strings.hpp"

#include <unistd.h>

namespace cukit::http {

namespace {

// Where distributions keep the bundle: a libcurl that was copied to another one looks in its
// builder's place.
constexpr const char* k_bundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                     "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                     "/etc/ssl/cert.pem"};
constexpr const char* k_variables[] = {"CUKIT_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
                                       "REQUESTS_CA_BUNDLE", "PIP_CERT"};

constexpr const char* k_proxies[] = {"https_proxy", "HTTPS_PROXY", "http_proxy",
                                     "HTTP_PROXY",  "all_proxy",   "ALL_PROXY"};
constexpr std::uint64_t k_netrc_bytes = 1U << 20U;

bool is_https(const std::string& url) {
  return lower(url.substr(0, 6)) == "https:";
}

std::string proxy_for(const Environment& environment, const std::string& scheme) {
  const std::string upper = scheme == "https" ? "HTTPS_PROXY" : "HTTP_PROXY";
  for (const auto& name :
       {lower(upper), upper, std::string("all_proxy"), std::string("ALL_PROXY")}) {
    if (const auto value = environment.get(name)) {
      return *value;
    }
  }
  return {};
}

} // namespace

HeaderList make_headers(const std::vector<std::string>& lines) {
  HeaderList list;
  for (const auto& line : lines) {
    curl_slist* longer = libcurl().slist_append(list.get(), line.c_str());
    CUKIT_ENSURE(longer != nullptr, "no memory for a header");
    static_cast<void>(list.release()); // the head stays the same; only an empty list gets a new one
    list.reset(longer);
  }
  return list;
}

Result<Session> Session::create(Options options) {
  CUKIT_TRY(load_libcurl());
  // Once in the life of the process and before any other call; there is no matching cleanup, since
  // other threads may still run.
  static const CURLcode initialised = libcurl().global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) {
    return fail(ErrorCode::host, "libcurl cannot start: {}", libcurl().easy_strerror(initialised));
  }
  Session session(std::move(options));
  CUKIT_TRY(session.find_certificates());
  CUKIT_TRY(session.find_netrc());
  session.find_named();
  CUKIT_TRY(session.check_proxies());
  return session;
}

Result<void> Session::find_certificates() {
  for (const char* name : k_variables) {
    const auto value = options_.environment.get(name);
    if (!value) {
      continue;
    }
    if (::access(value->c_str(), R_OK) != 0) {
      const int number = errno;
      auto error = errno_error(number, fmt::format("{} names certificates that cannot be read: {}",
                                                   name, printable(*value)));
      error.hint = fmt::format("point {} at a file in PEM format, or unset it", name);
      return tl::unexpected<Error>(std::move(error));
    }
    std::error_code
        unreadable; // then it is no folder, and libcurl says what is wrong with the file
    (fs::is_directory(*value, unreadable) ? ca_folder_ : ca_file_) = *value;
    return {};
  }
  const auto* built_in = libcurl().version_info(CURLVERSION_NOW);
  if (built_in->cainfo != nullptr && ::access(built_in->cainfo, R_OK) == 0) {
    return {};
  }
  for (const char* path : k_bundles) {
    if (::access(path, R_OK) == 0) {
      ca_file_ = path;
      return {};
    }
  }
  return {};
}

Result<void> Session::find_netrc() {
  if (!options_.netrc) {
    return {};
  }
  const auto& environment = options_.environment;
  netrc_ = environment.get("NETRC").value_or(environment.get("HOME").value_or("") + "/.netrc");
  if (::access(netrc_.c_str(), R_OK) != 0) {
    const int number = errno;
    auto error = errno_error(
        number, fmt::format("the file with logins cannot be read: {}", printable(netrc_)));
    error.hint = "point NETRC at it, or leave --netrc and CUKIT_NETRC out";
    return tl::unexpected<Error>(std::move(error));
  }
  CUKIT_TRY_ASSIGN(const auto text, read_file(netrc_, k_netrc_bytes));
  logins_ = Netrc(text);
  return {};
}

void Session::find_named() {
  for (const auto& address : options_.named) {
    const auto place = place_of(address); // one that is no URL is refused when it is asked
    if (place) {
      named_hosts_.insert(place->host);
    }
    if (place && place->scheme == "http" && !is_loopback(*place)) {
      plain_hosts_.insert(place->host);
    }
  }
}

/// libcurl would quote such a proxy in its own words, or take a part of the password for a host.
Result<void> Session::check_proxies() const {
  for (const auto* name : k_proxies) {
    const auto value = options_.environment.get(name);
    if (value && has_loose_login(*value)) {
      Error error{.code = ErrorCode::source,
                  .message =
                      fmt::format("{} holds a login that cannot be told from its host", name)};
      error.where = name;
      error.hint = k_loose_login_hint;
      return tl::unexpected<Error>(std::move(error));
    }
  }
  return {};
}

/// netrc knows one login for any host (`default`): any that the user named.
bool Session::has_login_for(const Place& place) const {
  return named_hosts_.contains(place.host) || logins_.names(place.host);
}

Multi Session::make_multi() const {
  Multi multi(libcurl().multi_init());
  CUKIT_ENSURE(multi != nullptr, "libcurl makes no handle");
  libcurl().multi_setopt(multi.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  libcurl().multi_setopt(multi.get(), CURLMOPT_MAX_HOST_CONNECTIONS,
                         static_cast<long>(options_.connections_per_host));
  return multi;
}

Easy Session::make_easy() const {
  Easy easy(libcurl().easy_init());
  CUKIT_ENSURE(easy != nullptr, "libcurl makes no handle");
  CURL* handle = easy.get();
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_USERAGENT, "cukit");
  set(handle, CURLOPT_FOLLOWLOCATION,
      0L); // redirects are followed by Exchange, which knows the rules
  set(handle, CURLOPT_CONNECTTIMEOUT, static_cast<long>(options_.connect.count()));
  set(handle, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(limits::k_stall_bytes_per_second));
  set(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.stall.count()));
  set(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  set(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(handle, CURLOPT_BUFFERSIZE, 256L * 1024);
  // Without it the removal of a handle waits for a resolver thread that may hang for half a minute.
  set(handle, CURLOPT_QUICK_EXIT, 1L);
  set(handle, CURLOPT_PIPEWAIT, 1L);
  // A libcurl without HTTP/2 refuses this one, and then speaks HTTP/1.1.
  static_cast<void>(libcurl().easy_setopt(handle, CURLOPT_HTTP_VERSION,
                                          static_cast<long>(CURL_HTTP_VERSION_2TLS)));
  if (!netrc_.empty()) {
    set(handle, CURLOPT_NETRC_FILE, netrc_.c_str());
  }
  if (!ca_file_.empty()) {
    set(handle, CURLOPT_CAINFO, ca_file_.c_str());
    set(handle, CURLOPT_PROXY_CAINFO, ca_file_.c_str());
  }
  if (!ca_folder_.empty()) {
    set(handle, CURLOPT_CAINFO, static_cast<char*>(nullptr));
    set(handle, CURLOPT_CAPATH, ca_folder_.c_str());
    set(handle, CURLOPT_PROXY_CAPATH, ca_folder_.c_str());
  }
  return easy;
}

Result<void> Session::check(const std::string& url, const Place* from) const {
  CUKIT_TRY_ASSIGN(const Place place, place_of(url));
  const bool is_plain = place.scheme == "http";
  const bool is_down = is_plain && from != nullptr && from->scheme == "https";
  // Another machine has no business with what listens on this one.
  const bool is_here = is_loopback(place) && (from == nullptr || is_loopback(*from));
  if (place.scheme == "https" ||
      (is_plain && !is_down && (is_here || plain_hosts_.contains(place.host)))) {
    return {};
  }
  Error error{.code = ErrorCode::source, .message = {}, .where = redact_url(url)};
  if (is_down) {
    error.message = "plain http is not taken after https";
  } else if (is_plain) {
    error.message = fmt::format("plain http is not taken from {}", printable(place.host));
    error.hint = fmt::format("use an https address; a host may speak plain http only when you name "
                             "it so yourself: --mirror http://{}/...",
                             printable(place.host));
  } else {
    error.message =
        fmt::format("`{}` addresses are not taken, only https", printable(place.scheme));
  }
  return tl::unexpected<Error>(std::move(error));
}

std::string Session::proxy_to(const std::string& url) const {
  return proxy_for(options_.environment, is_https(url) ? "https" : "http");
}

void Session::point_at(CURL* handle, const std::string& url) const {
  set(handle, CURLOPT_URL, url.c_str());
  set(handle, CURLOPT_PROTOCOLS_STR, is_https(url) ? "https" : "http");
  // Always set, also to nothing: libcurl would else read this process's environment, not the one
  // that was given.
  set(handle, CURLOPT_PROXY, proxy_to(url).c_str());
  const auto exceptions = options_.environment.get("no_proxy");
  set(handle, CURLOPT_NOPROXY,
      exceptions.value_or(options_.environment.get("NO_PROXY").value_or("")).c_str());
  if (!netrc_.empty()) {
    const auto place = place_of(url);
    const bool has_login = place && has_login_for(*place);
    // a login in a URL wins
    set(handle, CURLOPT_NETRC,
        static_cast<long>(has_login ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
  }
}

} // namespace cukit::http
