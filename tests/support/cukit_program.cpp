#include "support/cukit_program.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <signal.h> // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit::test {

namespace {

TempDirectory scratch() {
  auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-test-");
  if (!folder) {
    throw std::runtime_error(folder.error().message);
  }
  return std::move(*folder);
}

std::vector<std::string> command_line(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), CUKIT_BINARY);
  return arguments;
}

} // namespace

Playground::Playground() : folder_(scratch()) {
  environment.set("CUKIT_HOME", home().string());
  environment.set("HOME", path().string());
  environment.set("CUKIT_REDIST_URL", path().string()); // holds none: no test asks NVIDIA's host
  environment.set("PATH", "/usr/bin:/bin");
  environment.set("TMPDIR", path().string());
  // What the sanitizers of the binary under test are told.
  for (const auto* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) {
      environment.set(name, value);
    }
  }
}

fs::path Playground::write(const std::string& name, const std::string& text) const {
  const auto file = path() / name;
  const auto written = write_file_atomic(file, text);
  if (!written) {
    throw std::runtime_error(written.error().message);
  }
  return file;
}

namespace {

Finished run_in(const Playground& playground, std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.environment = playground.environment;
  command.directory = playground.path().string();
  command.time_limit = std::chrono::minutes(2);
  auto finished = run_command(command);
  if (!finished) {
    throw std::runtime_error(finished.error().message);
  }
  return std::move(*finished);
}

} // namespace

Finished Playground::run(std::vector<std::string> arguments) const {
  return run_in(*this, command_line(std::move(arguments)));
}

Finished Playground::run_cut_off(std::vector<std::string> arguments) const {
  auto line = command_line(std::move(arguments));
  line.insert(line.begin(), {"/usr/bin/unshare", "-n"});
  return run_in(*this, std::move(line));
}

bool Playground::cuts_off() const {
  return path_exists("/usr/bin/unshare") && run_cut_off({"--version"}).exit_code == 0;
}

std::vector<std::string> Playground::names_in(const std::string& folder) const {
  return folder_exists(home() / folder)
             ? list_directory(home() / folder).value_or(std::vector<std::string>{})
             : std::vector<std::string>{};
}

Running::Running(const Playground& playground, std::vector<std::string> arguments)
    : log_(playground.path() / "running.log") {
  auto words = command_line(std::move(arguments));
  auto lines = playground.environment.lines();
  std::vector<char*> argument_pointers;
  std::vector<char*> environment_pointers;
  for (auto& word : words) {
    argument_pointers.push_back(word.data());
  }
  for (auto& line : lines) {
    environment_pointers.push_back(line.data());
  }
  argument_pointers.push_back(nullptr);
  environment_pointers.push_back(nullptr);
  const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(log, 1);
    ::dup2(log, 2);
    if (::chdir(playground.path().c_str()) == 0) {
      ::execve(argument_pointers[0], argument_pointers.data(), environment_pointers.data());
    }
    ::_exit(127);
  }
  ::close(log);
}

Running::~Running() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Running::signal(int number) const {
  ::kill(pid_, number);
}

int Running::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = 0;
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string Running::output() const {
  return read_file(log_, 1U << 20U).value_or("");
}

bool Running::says(const std::string& text, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (output().find(text) == std::string::npos) {
    siginfo_t ended{};
    if (std::chrono::steady_clock::now() > deadline ||
        ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        ended.si_pid == pid_) {
      return output().find(text) != std::string::npos;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

} // namespace cukit::test
