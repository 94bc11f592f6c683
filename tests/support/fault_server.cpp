#include "support/fault_server.hpp"

#include "base/sha256.hpp"
#include "base/strings.hpp"
#include "support/certificates.hpp"
#include "support/peer.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <zlib.h>

namespace cukit::test {

namespace {

struct Resource {
  std::string bytes;
  std::string type;
  std::string etag;
};

struct Answer {
  int status = 200;
  std::vector<std::string> headers;
  std::string body;
};

std::string reason(int status) {
  switch (status) {
  case 200:
    return "OK";
  case 206:
    return "Partial Content";
  case 404:
    return "Not Found";
  default:
    return "Scripted";
  }
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  CUKIT_ENSURE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
               "zlib fails");
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())) + 32, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  CUKIT_ENSURE(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib fails");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

FaultServer::Seen parse_request(const std::string& head) {
  FaultServer::Seen seen;
  bool first = true;
  for (const auto raw : split(head, '\n')) {
    const std::string_view line = trim(raw);
    if (first) {
      const auto words = split_words(line);
      seen.method = words.empty() ? std::string() : std::string(words[0]);
      seen.path = words.size() < 2 ? std::string() : std::string(words[1]);
      first = false;
    } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
      seen.headers[lower(line.substr(0, colon))] = std::string(trim(line.substr(colon + 1)));
    }
  }
  const auto scheme = seen.path.find("://"); // a proxy is asked with the whole URL
  if (scheme != std::string::npos) {
    const auto slash = seen.path.find('/', scheme + 3);
    seen.path = slash == std::string::npos ? "/" : seen.path.substr(slash);
  }
  return seen;
}

std::string without_query(const std::string& path) {
  return path.substr(0, path.find('?'));
}

struct Span {
  std::uint64_t first = 0;
  std::uint64_t last = 0; ///< inclusive
};

/// `bytes=a-b`, `bytes=a-` and `bytes=-n`; nothing: out of range or not understood.
std::optional<Span> parse_range(std::string_view text, std::uint64_t size) {
  const auto dash = text.find('-');
  if (!text.starts_with("bytes=") || dash == std::string_view::npos || size == 0) {
    return std::nullopt;
  }
  const std::string first(text.substr(6, dash - 6));
  const std::string last(text.substr(dash + 1));
  Span span{0, size - 1};
  if (first.empty()) {
    span.first = size - std::min<std::uint64_t>(size, std::stoull(last));
    return span;
  }
  span.first = std::stoull(first);
  if (!last.empty()) {
    span.last = std::min<std::uint64_t>(size - 1, std::stoull(last));
  }
  return span.first < size && span.first <= span.last ? std::optional(span) : std::nullopt;
}

void cut_to_range(Answer& answer, const FaultServer::Seen& seen, const Fault& fault,
                  const std::string& etag) {
  const std::string wanted = seen.header("range");
  const std::string condition = seen.header("if-range");
  const bool matches = condition.empty() || (condition == etag && !etag.starts_with("W/"));
  if (wanted.empty() || fault.ignore_range || !(matches || fault.ignore_condition)) {
    return;
  }
  const std::uint64_t size = answer.body.size();
  auto span = parse_range(wanted, size);
  if (!span) {
    answer = Answer{416, {fmt::format("Content-Range: bytes */{}", size)}, {}};
    return;
  }
  const auto shift = static_cast<std::uint64_t>(fault.range_shift);
  span->first = std::min(span->first + shift, size - 1);
  span->last =
      std::max(span->first,
               std::min(span->last + (seen.header("range").ends_with('-') ? 0 : shift), size - 1));
  answer.status = 206;
  answer.headers.push_back(fmt::format("Content-Range: bytes {}-{}/{}", span->first, span->last,
                                       fault.claimed_total.value_or(size)));
  answer.body = answer.body.substr(span->first, span->last - span->first + 1);
}

Answer compose(const FaultServer::Seen& seen, const Fault& fault, const Resource* resource) {
  if (fault.status != 0) {
    return Answer{fault.status, fault.headers, fault.body.value_or(std::string())};
  }
  if (resource == nullptr) {
    return Answer{404, {"Content-Type: text/plain"}, "nothing here"};
  }
  Answer answer{200, fault.headers, fault.body.value_or(resource->bytes)};
  answer.body.append(fault.extra, '\0');
  if (fault.flipped) {
    std::transform(answer.body.begin(), answer.body.end(), answer.body.begin(),
                   [](char c) { return static_cast<char>(~c); });
  }
  answer.headers.push_back("Content-Type: " + resource->type);
  answer.headers.push_back("Accept-Ranges: bytes");
  const std::string etag = fault.etag.value_or(resource->etag);
  if (!etag.empty()) {
    answer.headers.push_back("ETag: " + etag);
  }
  if (fault.gzip && seen.header("accept-encoding").find("gzip") != std::string::npos) {
    answer.headers.emplace_back("Content-Encoding: gzip");
    answer.body = gzip(answer.body);
  }
  cut_to_range(answer, seen, fault, etag);
  return answer;
}

int listen_on_loopback(int& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  CUKIT_ENSURE(fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                   ::listen(fd, 128) == 0 &&
                   ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0,
               "no loopback socket to be had");
  port = ntohs(address.sin_port);
  return fd;
}

} // namespace

struct FaultServer::State {
  ServerTls tls;
  int port = 0;
  int listener = -1;
  mutable std::mutex mutex; ///< guards everything below but `acceptor`
  std::map<std::string, std::shared_ptr<const Resource>> resources;
  std::map<std::string, std::deque<Fault>> scripts;
  std::map<std::string, Fault> defaults;
  std::vector<std::shared_ptr<Seen>> log;
  std::map<int, int> open; ///< connection number -> descriptor
  int connections = 0;
  bool closing = false;
  std::vector<std::jthread> workers;
  std::jthread acceptor;

  void accept_all();
  void serve_connection(int fd, int number);
  bool answer_one(Peer& peer, const std::string& head, int number);
  bool send_answer(Peer& peer, const Answer& answer, const Fault& fault, Seen& seen);
  bool send_body(Peer& peer, std::string_view body, const Fault& fault, Seen& seen);
  bool send_piece(Peer& peer, std::string_view piece, bool chunked, Seen& seen);
  Fault next_fault(const std::string& path);
};

std::string FaultServer::Seen::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

void FaultServer::State::accept_all() {
  while (true) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard guard(mutex);
    if (closing || fd < 0) {
      if (fd >= 0) {
        ::close(fd);
      }
      if (closing) {
        return;
      }
      continue;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    open[++connections] = fd;
    workers.emplace_back([this, fd, number = connections] { serve_connection(fd, number); });
  }
}

void FaultServer::State::serve_connection(int fd, int number) {
  sigset_t pipe; // OpenSSL writes without MSG_NOSIGNAL
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  Peer peer(fd, tls.context.get());
  while (peer.is_ready()) {
    const auto head = peer.read_head();
    if (!head || !answer_one(peer, *head, number)) {
      break;
    }
  }
  const std::lock_guard guard(mutex);
  open.erase(
      number); // before the destructor closes the descriptor, whose number may come back at once
}

Fault FaultServer::State::next_fault(const std::string& path) {
  if (auto& script = scripts[path]; !script.empty()) {
    Fault fault = std::move(script.front());
    script.pop_front();
    return fault;
  }
  const auto found = defaults.find(path);
  return found == defaults.end() ? Fault::none() : found->second;
}

bool FaultServer::State::answer_one(Peer& peer, const std::string& head, int number) {
  auto seen = std::make_shared<Seen>(parse_request(head));
  seen->connection = number;
  const std::string path = without_query(seen->path);
  Fault fault;
  std::shared_ptr<const Resource> resource;
  {
    const std::lock_guard guard(mutex);
    log.push_back(seen);
    fault = next_fault(path);
    const auto found = resources.find(path);
    resource = found == resources.end() ? nullptr : found->second;
  }
  return send_answer(peer, compose(*seen, fault, resource.get()), fault, *seen);
}

bool FaultServer::State::send_answer(Peer& peer, const Answer& answer, const Fault& fault,
                                     Seen& seen) {
  if (!fault.mute) {
    std::string head = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
    for (const auto& line : answer.headers) {
      head += line + "\r\n";
    }
    if (fault.framing == Fault::Framing::chunked) {
      head += "Transfer-Encoding: chunked\r\n";
    } else if (fault.framing == Fault::Framing::content_length) {
      head +=
          fmt::format("Content-Length: {}\r\n", fault.claimed_length.value_or(answer.body.size()));
    } else {
      head += "Connection: close\r\n";
    }
    if (!peer.send(head + "\r\n") ||
        (seen.method != "HEAD" && !send_body(peer, answer.body, fault, seen))) {
      return false;
    }
  }
  switch (fault.ending) {
  case Fault::Ending::complete:
    return fault.framing != Fault::Framing::until_close;
  case Fault::Ending::stall:
    peer.wait_until_gone();
    return false;
  case Fault::Ending::reset: {
    const std::lock_guard guard(mutex);
    open.erase(seen.connection);
    peer.reset();
    return false;
  }
  case Fault::Ending::fin:
    break;
  }
  return false;
}

bool FaultServer::State::send_body(Peer& peer, std::string_view body, const Fault& fault,
                                   Seen& seen) {
  const bool chunked = fault.framing == Fault::Framing::chunked;
  if (fault.ending != Fault::Ending::complete) {
    body = body.substr(0, std::min<std::uint64_t>(body.size(), fault.after));
  }
  const std::size_t piece = fault.drip.count() > 0 ? 1 : 16384;
  for (std::size_t at = 0; at < body.size(); at += piece) {
    if (!send_piece(peer, body.substr(at, piece), chunked, seen) ||
        (fault.drip.count() > 0 && peer.is_gone_within(fault.drip))) {
      return false;
    }
  }
  const std::string more(16384, 'x');
  while (fault.endless) {
    if (!send_piece(peer, more, chunked, seen)) {
      return false;
    }
  }
  return !chunked || fault.ending != Fault::Ending::complete || peer.send("0\r\n\r\n");
}

bool FaultServer::State::send_piece(Peer& peer, std::string_view piece, bool chunked, Seen& seen) {
  {
    const std::lock_guard guard(
        mutex); // counted before it is sent: the client must not be ahead of the count
    seen.body_bytes += piece.size();
  }
  return chunked ? peer.send(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece)) : peer.send(piece);
}

FaultServer::FaultServer(Mode mode) : state_(std::make_unique<State>()) {
  if (mode != Mode::plain) {
    const auto kind = mode == Mode::tls_expired      ? CertificateKind::expired
                      : mode == Mode::tls_wrong_host ? CertificateKind::wrong_host
                                                     : CertificateKind::good;
    state_->tls = make_server_tls(kind, mode == Mode::tls_old);
  }
  state_->listener = listen_on_loopback(state_->port);
  state_->acceptor = std::jthread([state = state_.get()] { state->accept_all(); });
}

FaultServer::~FaultServer() {
  {
    const std::lock_guard guard(state_->mutex);
    state_->closing = true;
    for (const auto& [number, fd] : state_->open) {
      ::shutdown(fd, SHUT_RDWR);
    }
  }
  ::shutdown(state_->listener, SHUT_RDWR);
  state_->acceptor.join();
  state_->workers.clear(); // joins
  ::close(state_->listener);
}

void FaultServer::serve(const std::string& path, std::string bytes, std::string content_type) {
  auto etag = fmt::format("\"{}\"", sha256_of(bytes).hex().substr(0, 16));
  auto resource = std::make_shared<const Resource>(
      Resource{std::move(bytes), std::move(content_type), std::move(etag)});
  const std::lock_guard guard(state_->mutex);
  state_->resources[path] = std::move(resource);
}

void FaultServer::remove(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  state_->resources.erase(path);
}

void FaultServer::script(const std::string& path, std::vector<Fault> faults) {
  const std::lock_guard guard(state_->mutex);
  state_->scripts[path] = std::deque<Fault>(faults.begin(), faults.end());
}

void FaultServer::always(const std::string& path, Fault fault) {
  const std::lock_guard guard(state_->mutex);
  state_->defaults[path] = std::move(fault);
}

int FaultServer::port() const {
  return state_->port;
}
std::string FaultServer::authority() const {
  return state_->tls.authority;
}

std::string FaultServer::url(const std::string& path) const {
  return fmt::format("{}://127.0.0.1:{}{}", state_->tls.context ? "https" : "http", state_->port,
                     path);
}

std::vector<FaultServer::Seen> FaultServer::seen(const std::string& path) const {
  std::vector<Seen> result;
  const std::lock_guard guard(state_->mutex);
  for (const auto& entry : state_->log) {
    if (path.empty() || without_query(entry->path) == path) {
      result.push_back(*entry);
    }
  }
  return result;
}

int FaultServer::requests(const std::string& path) const {
  return static_cast<int>(seen(path).size());
}

std::uint64_t FaultServer::body_bytes(const std::string& path) const {
  std::uint64_t sum = 0;
  for (const auto& entry : seen(path)) {
    sum += entry.body_bytes;
  }
  return sum;
}

void FaultServer::forget() {
  const std::lock_guard guard(state_->mutex);
  state_->log.clear();
}

} // namespace cukit::test
