// What all transfers of a client have in common, and the handles of libcurl as values. libcurl's
// types stay inside this module.
#pragma once

#include "http/client.hpp"
#include "http/libcurl.hpp"
#include "http/netrc.hpp"
#include "http/url.hpp"

#include <memory>
#include <set>

namespace cukit::http {

struct EasyDeleter {
  void operator()(CURL* handle) const { libcurl().easy_cleanup(handle); }
};
struct MultiDeleter {
  void operator()(CURLM* handle) const { libcurl().multi_cleanup(handle); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { libcurl().slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

HeaderList make_headers(const std::vector<std::string>& lines);

/// An option that libcurl refuses is a mistake of ours or a lack of memory.
template <typename T> void set(CURL* handle, CURLoption option, T value) {
  CUKIT_ENSURE(libcurl().easy_setopt(handle, option, value) == CURLE_OK,
               "libcurl refuses an option");
}

class Session {
public:
  /// Initialises libcurl and looks for the certificates; a CA variable that names nothing is an
  /// error.
  static Result<Session> create(Options options);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Multi make_multi() const;
  [[nodiscard]] Easy make_easy() const;
  /// Whether the rules allow to ask this URL at all; `from`: the place that redirects to it.
  [[nodiscard]] Result<void> check(const std::string& url, const Place* from = nullptr) const;
  /// Address, protocols, proxy and logins; `url` passed check().
  void point_at(CURL* handle, const std::string& url) const;
  /// The proxy on the way to a URL, empty: none is configured. Hosts of no_proxy count too.
  [[nodiscard]] std::string proxy_to(const std::string& url) const;

private:
  explicit Session(Options options) : options_(std::move(options)) {}
  Result<void> find_certificates();
  Result<void> find_netrc();
  void find_named();
  Result<void> check_proxies() const;
  [[nodiscard]] bool has_login_for(const Place& place) const;
  Options options_;
  std::set<std::string> plain_hosts_; ///< that the user named with http
  std::set<std::string> named_hosts_; ///< with either
  std::string ca_file_;               ///< empty: libcurl's default
  std::string ca_folder_;
  std::string netrc_; ///< empty: none
  Netrc logins_;
};

} // namespace cukit::http
