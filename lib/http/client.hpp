// HTTP by libcurl's multi interface. One Client per process is enough; it keeps connections, speaks
// HTTP/2 where the server does, verifies certificates always, and follows at most
// limits::k_redirects redirects, never from https to anything else. Plain http is spoken to hosts
// that the user named with http himself, and to loopback addresses, which no page or redirect of
// another machine may lead to.
//
// CA bundle: CUKIT_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, PIP_CERT in that
// order, else libcurl's default. Proxies: https_proxy, http_proxy, all_proxy, no_proxy in either
// case, as libcurl reads them.
#pragma once

#include "base/environment.hpp"
#include "base/limits.hpp"
#include "base/progress.hpp"
#include "base/random_access.hpp"
#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::http {

struct Options {
  Environment environment = {};
  /// Addresses that the user wrote down himself. One that says http opens plain http to its host
  /// and to no other; the `default` login of a netrc file goes to their hosts and to no other.
  std::vector<std::string> named = {};
  bool netrc = false; ///< logins of the file that NETRC names, else of ~/.netrc, which must exist
  int attempts = limits::k_attempts;
  std::chrono::milliseconds first_delay{
      500}; ///< grows by doubling, with jitter; tests set it small
  int connections_per_host = 8;
  std::uint64_t pages_bytes = limits::k_pages_bytes; ///< of all answers of one get_all()
  std::chrono::seconds stall{
      limits::k_stall_seconds}; ///< so long below k_stall_bytes_per_second ends an attempt
  std::chrono::seconds connect{limits::k_connect_seconds}; ///< with the TLS handshake
  /// From the first request of an exchange to its end: so long, and longer only as far as
  /// k_least_bytes_per_second have come.
  std::chrono::milliseconds patience{std::chrono::seconds(limits::k_patience_seconds)};
};

struct Request {
  std::string url;
  std::vector<std::string> headers = {}; ///< "Name: value"
  std::uint64_t max_bytes = limits::k_index_page_bytes;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range =
      {}; ///< first and last byte; then only 206 with exactly this range has a body
};

struct Response {
  int status = 0;
  std::string body;
  std::string final_url;    ///< after redirects: the base of relative links
  std::string content_type; ///< lower case, without parameters
  std::string etag;
  std::string last_modified;
  bool range_refused = false; ///< the whole file or another range instead of the one asked for
  std::optional<std::uint64_t> total_size; ///< from Content-Range of a 206
};

/// What a failed attempt was, as far as another try is concerned.
struct Attempt {
  int status = 0; ///< 0: no answer
  bool transport_failed =
      false; ///< the connection, not the answer, was bad; false for certificates and broken rules
  std::optional<std::chrono::seconds> retry_after = {};
  int number = 1; ///< the attempt that just failed, from 1
};
/// Whether it is worth another try, and after how long: pure, used by get_all and by fetch. A wait
/// that the server asks for is the least of it; all waits together have at most about
/// limits::k_retry_after_seconds, then it is over.
std::optional<std::chrono::milliseconds> retry_delay(const Attempt& attempt, const Options& options,
                                                     double jitter_0_to_1);

/// One file that is to be streamed. Called on the thread that runs Client::stream.
class Sink {
public:
  virtual ~Sink() = default;
  /// Headers of an attempt are in; `offset` is where the body begins in the file (0 after a
  /// restart). An error ends the transfer.
  virtual Result<void> start(std::uint64_t offset, std::optional<std::uint64_t> total,
                             std::string_view etag) = 0;
  virtual Result<void> write(std::span<const std::uint8_t> bytes) = 0;
};

struct Download {
  std::string url;
  Sink* sink = nullptr;
  /// > 0: Range, with If-Range where there is an etag; the server may answer from 0. Without an
  /// etag nothing but the total of the answer speaks for its being the same file: check the digest.
  std::uint64_t resume_at = 0;
  std::string etag = {};       ///< strong, with its quotes; empty: the server gave none
  std::uint64_t max_bytes = 0; ///< the transfer is cut when the file would grow beyond
  std::uint64_t priority = 0;  ///< larger starts earlier
};

/// How one attempt of a download ended.
struct Ended {
  Result<void> result;
  Attempt attempt = {};       ///< of a failure; `number` is left to the caller
  bool range_refused = false; ///< the answer did not fit the range that was asked for: only a start
                              ///< from 0 makes sense
};

/// Safe from several threads: each call works on connections of its own.
class Client {
public:
  static Result<std::unique_ptr<Client>> create(Options options);
  virtual ~Client() = default;

  /// Several requests at a time, each with the retry policy; answers in the order of the requests,
  /// whose bodies have at most Options::pages_bytes together. A
  /// status that is not 2xx is an error of code `source` whose message names the status, except
  /// 404, which is returned as a Response; so is an answer that does not fit the range that was
  /// asked for (`range_refused`, without a body).
  virtual std::vector<Result<Response>> get_all(std::span<const Request> requests,
                                                const std::stop_token& stop) = 0;
  Result<Response> get(const Request& request, const std::stop_token& stop);

  /// One attempt for each download, at most `parallel` at a time; `done(index, ended)` is called on
  /// this thread as each ends, and returns the next attempt (after how long) or nothing. Ends when
  /// nothing is left. Any status but 200 and a fitting 206 is an error, and so is a page of HTML:
  /// no artifact is one. A stop request ends all with ErrorCode::interrupted.
  struct Again {
    Download download;
    std::chrono::milliseconds delay{0};
  };
  virtual void
  stream(std::vector<Download> downloads, int parallel,
         const std::function<std::optional<Again>(std::size_t index, Ended ended)>& done,
         const std::stop_token& stop) = 0;
};

/// Reads a file on a server by byte ranges; a server without ranges, with another range than asked
/// for, or whose file changed between two reads (ETag, Last-Modified, size) is an error. Keeps what
/// was read in blocks, so that neighbouring reads cost one request. The client must outlive it.
/// Safe from several threads (one request at a time).
Result<std::unique_ptr<RandomAccess>> open_range_file(Client& client, const std::string& url,
                                                      std::optional<std::uint64_t> known_size,
                                                      const std::stop_token& stop);
/// Bytes received through a range file so far, for reports; 0 for any other kind of file.
std::uint64_t range_bytes_received(const RandomAccess& range_file);
/// Whether a read failed because the server serves no ranges, wrong ones, or ranges of different
/// states of the file: then only the whole file is worth asking for.
bool ranges_failed(const RandomAccess& range_file);

/// Joins a link of a page to the page's URL (RFC 3986). An https page may not link to http, and a
/// page of another machine not to this one.
Result<std::string> resolve_url(const std::string& base, const std::string& link);
/// The last path segment, percent-decoded, without query and fragment.
std::string url_file_name(const std::string& url);
bool is_loopback(const std::string& url);
/// An entity tag that stands for exactly these bytes: quoted, without W/. Only such a one lets a
/// download go on.
bool is_strong_etag(std::string_view etag);

} // namespace cukit::http
