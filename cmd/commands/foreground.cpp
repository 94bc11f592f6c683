#include "commands/foreground.hpp"

#include "signals.hpp"

#include <cerrno>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace cukit::cmd {

namespace {

constexpr int k_look_again_ms = 20;
constexpr auto k_by_itself = std::chrono::seconds(1);
/// What a program gets to tidy up, `cukit up` too.
constexpr auto k_grace = std::chrono::seconds(10);

} // namespace

Result<pid_t> start_in_foreground(const std::vector<std::string>& command, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (output >= 0) {
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  }
  const auto& signals = callers_signals(); // a build wants them as they were
  posix_spawnattr_setsigmask(&attributes, &signals.mask);
  posix_spawnattr_setsigdefault(&attributes, &signals.standard);
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

Waiting::Waiting(pid_t child, std::string name, std::stop_token stop)
    : child_(child), name_(std::move(name)), stop_(std::move(stop)) {}

Result<std::optional<int>> Waiting::look() {
  int status = 0;
  const auto ended = ::waitpid(child_, &status, WNOHANG);
  if (ended < 0 && errno != EINTR) {
    return fail_errno(errno, "cannot wait for `{}`", name_);
  }
  if (ended > 0) {
    return std::optional(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  const auto now = std::chrono::steady_clock::now();
  if (stop_.stop_requested() && !next_) {
    next_ = now + k_by_itself;
  } else if (next_ && now >= *next_) {
    ::kill(child_, signals_++ == 0 ? SIGTERM : SIGKILL);
    next_ = now + k_grace;
  }
  return std::optional<int>();
}

Result<int> wait_for(pid_t child, const std::string& name, const std::stop_token& stop) {
  Waiting waiting(child, name, stop);
  while (true) {
    CUKIT_TRY_ASSIGN(const auto code, waiting.look());
    if (code) {
      return *code;
    }
    ::poll(nullptr, 0, k_look_again_ms);
  }
}

} // namespace cukit::cmd
