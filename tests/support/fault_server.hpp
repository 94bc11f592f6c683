// A small HTTP/1.1 server on loopback sockets, in threads of the test's own process. By itself it
// is honest: byte ranges, If-Range, strong ETags, HEAD, keep-alive. A script per path makes single
// answers go wrong. It counts what it was asked and sent.
//
//   FaultServer server;
//   server.serve("/x.whl", bytes);
//   server.script("/x.whl", {Fault::close_after(1000), Fault::none()});
//   client.get(server.url("/x.whl"));   server.requests("/x.whl") == 2
//
// It also answers as a proxy would be asked: `GET http://host/path` counts for `/path`, `CONNECT
// host:443` for `host:443`.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cukit::test {

/// How one answer differs from an honest one. The fields combine; the functions name the usual
/// cases.
struct Fault {
  enum class Ending { complete, fin, reset, stall };
  enum class Framing { content_length, chunked, until_close };

  int status = 0;                   ///< 0: as an honest server
  std::vector<std::string> headers; ///< more lines, "Name: value"
  std::optional<std::string> body;  ///< instead of what is served
  std::uint64_t extra = 0;          ///< bytes more than the file has
  bool flipped = false;             ///< every byte of the body inverted
  bool gzip = false;                ///< compressed, if the client said that it takes that
  Framing framing = Framing::content_length;
  std::optional<std::uint64_t> claimed_length; ///< of Content-Length
  bool endless = false;                        ///< chunks until the client goes away
  Ending ending = Ending::complete;
  std::uint64_t after = 0;           ///< body bytes before the ending
  bool mute = false;                 ///< the ending comes before the status line
  std::chrono::milliseconds drip{0}; ///< between single bytes of the body
  bool ignore_range = false;         ///< 200 and everything, whatever was asked
  bool ignore_condition = false;     ///< 206 also when If-Range does not match
  std::int64_t range_shift =
      0; ///< a 206 begins so many bytes later, in the header and in the bytes
  std::optional<std::uint64_t> claimed_total; ///< in Content-Range
  std::optional<std::string> etag; ///< instead of the honest one, with quotes; empty: none is sent

  static Fault none() { return {}; }
  static Fault close_after(std::uint64_t body_bytes);
  static Fault reset_after(std::uint64_t body_bytes);
  static Fault stall_after(std::uint64_t body_bytes);
  static Fault no_answer(); ///< takes the request and stays silent
  static Fault dripping(std::chrono::milliseconds pause);
  static Fault claiming_length(std::uint64_t length);
  static Fault endless_body();
  static Fault longer_by(std::uint64_t bytes);
  static Fault until_close(
      std::uint64_t body_bytes); ///< no length said, the connection closes after so many bytes
  static Fault whole_file();
  static Fault range_off_by(std::int64_t bytes);
  static Fault total_said(std::uint64_t total);
  static Fault with_etag(std::string etag);
  static Fault status_of(int status, std::string body = {}, std::vector<std::string> headers = {});
  static Fault retry_after(int status, const std::string& value);
  static Fault redirect(const std::string& location, int status = 302);
  static Fault portal(int status = 511); ///< a login page in HTML
  static Fault wrong_bytes();
  static Fault gzipped();
};

class FaultServer {
public:
  enum class Mode {
    plain,
    tls,
    tls_expired,
    tls_wrong_host,
    tls_old
  }; ///< tls_old: TLS 1.1 at most

  explicit FaultServer(Mode mode = Mode::plain);
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;
  ~FaultServer();

  void serve(const std::string& path, std::string bytes,
             std::string content_type = "application/octet-stream");
  void remove(const std::string& path); ///< answers 404 from now on
  /// The next answers for that path, one fault each; afterwards it is honest again.
  void script(const std::string& path, std::vector<Fault> faults);
  /// Every answer for that path once its script is used up.
  void always(const std::string& path, Fault fault);

  [[nodiscard]] std::string url(const std::string& path) const; ///< http(s)://127.0.0.1:PORT/path
  [[nodiscard]] int port() const;
  /// The certificate authority of the TLS modes in PEM, for a file that the client is told to
  /// trust.
  [[nodiscard]] std::string authority() const;

  struct Seen {
    std::string method;
    std::string path;                           ///< with its query
    std::map<std::string, std::string> headers; ///< names in lower case
    std::uint64_t body_bytes = 0;               ///< handed to the socket so far
    int connection = 0;                         ///< from 1
    [[nodiscard]] std::string header(const std::string& name) const;
  };
  [[nodiscard]] std::vector<Seen> seen(const std::string& path = {}) const; ///< empty path: all
  [[nodiscard]] int requests(const std::string& path = {}) const;
  [[nodiscard]] std::uint64_t body_bytes(const std::string& path = {}) const;
  void forget(); ///< the counts begin anew; scripts stay

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace cukit::test
