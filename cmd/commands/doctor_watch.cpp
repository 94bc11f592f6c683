#include "commands/doctor_watch.hpp"

#include "base/fd.hpp"
#include "base/files.hpp"
#include "commands/foreground.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace cukit::cmd {

namespace {

constexpr std::size_t k_kept = 64U << 20U;
constexpr int k_look_again_ms = 50;
/// What may still stand in the pipe when the build has ended; a daemon that it left behind can
/// write for ever.
constexpr std::size_t k_after_end = 1U << 20U;

/// What the build prints, on its way to the terminal.
class Output {
public:
  explicit Output(int from) : from_(from) {}

  /// Passes on what is there; false when all ends are closed.
  Result<bool> pass_on() {
    while (true) {
      const ssize_t count = ::read(from_, buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0 && errno == EAGAIN) {
        return true;
      }
      if (count < 0) {
        return fail_errno(errno, "cannot read what the build prints");
      }
      if (count == 0) {
        return false;
      }
      const std::string_view piece(buffer_.data(), static_cast<std::size_t>(count));
      CUKIT_TRY(write_all(STDERR_FILENO, piece));
      log_ += piece;
      passed_ += piece.size();
      if (log_.size() > 2 * k_kept) {
        log_.erase(0, log_.size() - k_kept);
      }
      return true;
    }
  }
  /// After the end of the build: what it wrote itself, and not what others may write yet.
  Result<void> drain() {
    const auto before = passed_;
    bool is_more = true;
    while (is_more && passed_ - before < k_after_end && is_ready(0)) {
      CUKIT_TRY_ASSIGN(is_more, pass_on());
    }
    return {};
  }
  [[nodiscard]] bool is_ready(int milliseconds) const {
    pollfd one{.fd = from_, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, milliseconds) > 0;
  }
  std::string take() { return std::move(log_); }

private:
  int from_;
  std::array<char, 65536> buffer_{};
  std::string log_;
  std::size_t passed_ = 0;
};

} // namespace

Result<Watched> watch(const std::vector<std::string>& command, const std::stop_token& stop) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  CUKIT_TRY_ASSIGN(const auto child, start_in_foreground(command, write_end.get()));
  CUKIT_TRY(write_end.close());
  if (::fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0) { // of this end alone
    return fail_errno(errno, "cannot read what the build prints");
  }
  Output output(read_end.get());
  Waiting waiting(child, command.front(), stop);
  bool is_open = true;
  while (true) {
    CUKIT_TRY_ASSIGN(const auto code, waiting.look());
    if (code) {
      CUKIT_TRY(output.drain());
      return Watched{.exit_code = *code, .log = output.take()};
    }
    if (!is_open) {
      ::poll(nullptr, 0, k_look_again_ms);
    } else if (output.is_ready(k_look_again_ms)) {
      CUKIT_TRY_ASSIGN(is_open, output.pass_on());
    }
  }
}

} // namespace cukit::cmd
