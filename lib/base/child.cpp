#include "base/child.hpp"

#include "base/fd.hpp"
#include "base/start_failure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h> // NOLINT(modernize-deprecated-headers): kill and sigset are POSIX
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cukit {

namespace {

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (auto& text : strings) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

// Between fork and exec only async-signal-safe calls are made.
[[noreturn]] void become_program(const char* program, char* const* arguments,
                                 char* const* environment, const char* directory, int in, int out,
                                 int err, int report) {
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int number : {SIGPIPE, SIGXFSZ, SIGCHLD}) { // compilers expect nobody's choice
    sigaction(number, &standard, nullptr);
  }
  if (::dup2(in, 0) >= 0 && ::dup2(out, 1) >= 0 && ::dup2(err, 2) >= 0 &&
      (directory == nullptr || ::chdir(directory) == 0)) {
    ::execve(program, arguments, environment);
  }
  const int number = errno;
  static_cast<void>(!::write(report, &number, sizeof number));
  ::_exit(127);
}

int collect(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Every descriptor but one: what this process has locked must not stay locked by its child.
void close_others(int kept) {
#ifdef SYS_close_range
  const auto number = static_cast<unsigned>(kept);
  if ((number == 0 || ::syscall(SYS_close_range, 0U, number - 1, 0U) == 0) &&
      ::syscall(SYS_close_range, number + 1, ~0U, 0U) == 0) {
    return;
  }
#endif
  const long most = std::min<long>(::sysconf(_SC_OPEN_MAX), 1L << 20L);
  for (int fd = 0; fd < most; ++fd) {
    if (fd != kept) {
      ::close(fd);
    }
  }
}

// Between fork and _exit only async-signal-safe calls are made.
[[noreturn]] void watch_group(pid_t leader, int alive) {
  if (::setpgid(0, leader) != 0) {
    ::_exit(1);
  }
  close_others(alive);
  char byte = 0;
  while (::read(alive, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL); // the end of the pipe: nobody is left who would wait for the group
  ::_exit(0);
}

/// The child's process group. A member of it that only waits kills it when this process dies, in
/// whatever way: nobody else would, a killed process says nothing to its children.
class Group {
public:
  explicit Group(pid_t leader) : leader_(leader) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    if (leader_ > 0) {
      kill();
      wait();
    }
  }
  Result<void> watch() {
    CUKIT_TRY_ASSIGN(Pipe pipe, make_pipe());
    watcher_ = ::fork();
    if (watcher_ == 0) {
      watch_group(leader_, pipe.read.get());
    }
    if (watcher_ < 0) {
      return fail_errno(errno, "cannot start a process");
    }
    ::setpgid(watcher_, leader_); // also here: whoever is first
    alive_ = std::move(pipe.write);
    return {};
  }
  void kill() const { ::kill(-leader_, SIGKILL); }
  int wait() {
    const int status = collect(std::exchange(leader_, 0));
    if (watcher_ > 0) {
      ::kill(watcher_, SIGKILL);
      collect(std::exchange(watcher_, 0));
    }
    return status;
  }

private:
  pid_t leader_;
  pid_t watcher_ = 0;
  Fd alive_; ///< closed by the kernel when this process ends
};

void read_some(Fd& fd, std::string& into, std::uint64_t limit, bool& cut) {
  std::array<char, 65536> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read
  const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (count <= 0) {
    fd = Fd();
    return;
  }
  const auto room = limit - std::min<std::uint64_t>(limit, into.size());
  const auto kept = std::min<std::uint64_t>(room, static_cast<std::uint64_t>(count));
  into.append(buffer.data(), static_cast<std::size_t>(kept));
  cut = cut || kept < static_cast<std::uint64_t>(count);
}

void feed(Fd& fd, std::string_view& input) {
  const ssize_t count = ::write(fd.get(), input.data(), input.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (count < 0) {
    input = {};
  } else {
    input.remove_prefix(static_cast<std::size_t>(count));
  }
  if (input.empty()) {
    fd = Fd();
  }
}

Result<Finished> supervise(Group& group, Fd out, Fd err, Fd in, const Command& command,
                           const std::stop_token& stop) {
  Finished finished;
  std::string_view input = command.input;
  if (input.empty()) {
    in = Fd();
  }
  const auto deadline = std::chrono::steady_clock::now() + command.time_limit;
  while (out.is_open() || err.is_open()) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while {} ran", command.arguments.front());
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      finished.timed_out = true;
      group.kill();
      break;
    }
    std::array<pollfd, 3> waiting{pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0},
                                  pollfd{in.get(), POLLOUT, 0}};
    if (::poll(waiting.data(), waiting.size(), 50) < 0 && errno != EINTR) {
      return fail_errno(errno, "cannot wait for {}", command.arguments.front());
    }
    if (waiting[0].revents != 0) {
      read_some(out, finished.output, command.output_limit, finished.output_was_cut);
    }
    if (waiting[1].revents != 0) {
      read_some(err, finished.errors, command.output_limit, finished.output_was_cut);
    }
    if (in.is_open() && waiting[2].revents != 0) {
      feed(in, input);
    }
  }
  const int status = group.wait();
  if (WIFSIGNALED(status)) {
    finished.signal = WTERMSIG(status);
    finished.exit_code = 128 + finished.signal;
  } else {
    finished.exit_code = WEXITSTATUS(status);
  }
  return finished;
}

} // namespace

Result<Finished> run_command(const Command& command, const std::stop_token& stop) {
  CUKIT_ENSURE(!command.arguments.empty(), "a command needs a program");
  std::string program = command.arguments.front();
  if (program.find('/') == std::string::npos) {
    program = command.environment.find_program(program);
    if (program.empty()) {
      auto error = Error{.code = ErrorCode::host,
                         .message = fmt::format("`{}` is not on PATH", command.arguments.front())};
      return tl::unexpected<Error>(std::move(error));
    }
  }
  CUKIT_TRY_ASSIGN(Pipe out, make_pipe());
  CUKIT_TRY_ASSIGN(Pipe err, make_pipe());
  CUKIT_TRY_ASSIGN(Pipe in, make_pipe());
  CUKIT_TRY_ASSIGN(Pipe report, make_pipe());
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto arguments = command.arguments;
  auto environment = command.environment.lines();
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  const char* directory = command.directory.empty() ? nullptr : command.directory.c_str();
  const int input_fd = command.input.empty() ? nothing.get() : in.read.get();

  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno(errno, "cannot start {}", program);
  }
  if (pid == 0) {
    become_program(program.c_str(), argument_pointers.data(), environment_pointers.data(),
                   directory, input_fd, out.write.get(), err.write.get(), report.write.get());
  }
  ::setpgid(pid, pid); // also here: whoever is first, the group exists before it is killed
  Group group(pid);
  CUKIT_TRY(group.watch());
  out.write = Fd();
  err.write = Fd();
  in.read = Fd();
  report.write = Fd();
  int number = 0;
  ssize_t count = 0;
  while ((count = ::read(report.read.get(), &number, sizeof number)) < 0 && errno == EINTR) {
  }
  if (count == sizeof number) {
    return tl::unexpected<Error>(start_error(number, program));
  }
  return supervise(group, std::move(out.read), std::move(err.read), std::move(in.write), command,
                   stop);
}

} // namespace cukit
