#include "commands/doctor_watch.hpp"

#include "base/fd.hpp"
#include "base/files.hpp"
#include "commands/foreground.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cukit::cmd {

namespace {

constexpr std::size_t k_kept = 64U << 20U;

Result<std::string> pass_on(int from) {
  std::string log;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return fail_errno(errno, "cannot read what the build prints");
    }
    if (count == 0) {
      return log;
    }
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
    CUKIT_TRY(write_all(STDERR_FILENO, piece));
    log += piece;
    if (log.size() > 2 * k_kept) {
      log.erase(0, log.size() - k_kept);
    }
  }
}

} // namespace

Result<Watched> watch(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  CUKIT_TRY_ASSIGN(const auto child, start_in_foreground(command, write_end.get()));
  CUKIT_TRY(write_end.close());
  CUKIT_TRY_ASSIGN(auto log, pass_on(read_end.get()));
  CUKIT_TRY_ASSIGN(const int code, wait_for(child, command.front()));
  return Watched{.exit_code = code, .log = std::move(log)};
}

} // namespace cukit::cmd
