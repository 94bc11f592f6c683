// One accepted connection of a test server, plain or TLS, with blocking reads and writes.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace cukit::test {

class Peer {
public:
  Peer(int fd, ssl_ctx_st* context); ///< takes the descriptor; a context makes it TLS
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  [[nodiscard]] bool is_ready() const { return ready_; } ///< false: the handshake failed
  bool send(std::string_view bytes);                     ///< false: the other side is gone
  std::optional<std::string>
  read_head(); ///< up to the empty line; nothing when the other side is gone
  [[nodiscard]] bool is_gone_within(std::chrono::milliseconds time) const;
  void wait_until_gone() const;
  void reset(); ///< RST instead of FIN

private:
  int fd_;
  std::shared_ptr<ssl_st> tls_;
  bool ready_ = true;
  std::string buffer_; ///< read, not yet used
};

} // namespace cukit::test
