#include "commands/foreground.hpp"

#include "signals.hpp"

#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace cukit::cmd {

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

Result<int> wait_for(pid_t child, const std::string& name) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail_errno(errno, "cannot wait for `{}`", name);
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace cukit::cmd
