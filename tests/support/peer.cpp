#include "support/peer.hpp"

#include <openssl/ssl.h>

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cukit::test {

Peer::Peer(int fd, ssl_ctx_st* context) : fd_(fd) {
  if (context == nullptr) {
    return;
  }
  tls_ = std::shared_ptr<SSL>(SSL_new(context), SSL_free);
  ready_ = tls_ != nullptr && SSL_set_fd(tls_.get(), fd_) == 1 && SSL_accept(tls_.get()) == 1;
}

Peer::~Peer() {
  tls_.reset();
  ::shutdown(fd_, SHUT_RDWR);
  ::close(fd_);
}

bool Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = 0;
    if (tls_ != nullptr) {
      count = SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
    } else {
      count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) {
        continue;
      }
    }
    if (count <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::optional<std::string> Peer::read_head() {
  std::array<char, 4096> piece{};
  while (true) {
    const auto end = buffer_.find("\r\n\r\n");
    if (end != std::string::npos) {
      std::string head = buffer_.substr(0, end + 2);
      buffer_.erase(0, end + 4);
      return head;
    }
    const ssize_t count = tls_ != nullptr
                              ? SSL_read(tls_.get(), piece.data(), static_cast<int>(piece.size()))
                              : ::recv(fd_, piece.data(), piece.size(), 0);
    if (count < 0 && tls_ == nullptr && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return std::nullopt;
    }
    buffer_.append(piece.data(), static_cast<std::size_t>(count));
  }
}

bool Peer::is_gone_within(std::chrono::milliseconds time) const {
  pollfd waiting{fd_, POLLRDHUP, 0};
  return ::poll(&waiting, 1, static_cast<int>(time.count())) > 0;
}

void Peer::wait_until_gone() const {
  pollfd waiting{fd_, POLLRDHUP, 0};
  while (::poll(&waiting, 1, -1) < 0 && errno == EINTR) {
  }
}

void Peer::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  tls_.reset();
  ::close(fd_);
  // The destructor must not touch a number that may be somebody else's by then.
  fd_ = -1;
}

} // namespace cukit::test
