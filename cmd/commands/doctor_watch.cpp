#include "commands/doctor_watch.hpp"

#include "base/fd.hpp"
#include "base/files.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace cukit::cmd {

namespace {

constexpr std::size_t k_kept = 64U << 20U;

/// Both of the child's streams into one pipe, in the order in which they were written.
Result<pid_t> start(const std::vector<std::string>& command, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
  sigset_t none; // main() blocks signals in every thread; a build wants them as they were
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const auto& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str())); // NOLINT: the interface is C's
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, command.front().c_str(), &actions, &attributes,
                                 arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return fail_errno(error, "cannot start `{}`", command.front());
  }
  return child;
}

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
  CUKIT_TRY_ASSIGN(const auto child, start(command, write_end.get()));
  CUKIT_TRY(write_end.close());
  CUKIT_TRY_ASSIGN(auto log, pass_on(read_end.get()));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail_errno(errno, "cannot wait for `{}`", command.front());
    }
  }
  return Watched{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                 .log = std::move(log)};
}

} // namespace cukit::cmd
