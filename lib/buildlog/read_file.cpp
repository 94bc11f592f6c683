#include "base/files.hpp"
#include "buildlog/buildlog.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace cukit::buildlog {

namespace {

constexpr std::size_t k_piece = 1U << 18U;
constexpr int k_wait_ms = 200; ///< how long a silent pipe may keep a stop waiting

} // namespace

Result<Facts> read_file(const std::string& path, std::vector<Phrase> phrases,
                        const std::stop_token& stop) {
  Fd opened;
  int from = STDIN_FILENO;
  if (path != "-") {
    CUKIT_TRY_ASSIGN(opened, open_file(path, O_RDONLY));
    from = opened.get();
  }
  Reader reader(std::move(phrases));
  std::string piece(k_piece, '\0');
  while (true) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "stopped while reading {}", path);
    }
    pollfd waiting{.fd = from, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, k_wait_ms) == 0) {
      continue;
    }
    const auto count = ::read(from, piece.data(), piece.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (count < 0) {
      return fail_errno(errno, "cannot read the log {}", path);
    }
    if (count == 0) {
      return reader.finish();
    }
    reader.feed(std::string_view(piece.data(), static_cast<std::size_t>(count)));
  }
}

} // namespace cukit::buildlog
