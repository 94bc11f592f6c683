#include "signals.hpp"

#include <cstdlib>

namespace cukit::cmd {

namespace {

using Action = struct sigaction;

/// SIGRTMAX: to the waiting thread alone, and nobody else's.
int wake_up() {
  return SIGRTMAX;
}

Action disposition_of(int number) {
  Action action{};
  sigaction(number, nullptr, &action);
  return action;
}

bool is_ignored(const Action& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

void set_disposition(int number, void (*handler)(int)) {
  Action action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

/// Written once, before the first thread and the first child.
struct Callers {
  CallersSignals signals;
  Action pipe{};
  Action file_size{};
  Action child{};
};

Callers& callers() {
  static Callers value;
  return value;
}

void take_over() {
  auto& was = callers();
  was.pipe = disposition_of(SIGPIPE);
  was.file_size = disposition_of(SIGXFSZ);
  was.child = disposition_of(SIGCHLD);
  sigemptyset(&was.signals.standard);
  for (const auto& [number, action] :
       {std::pair(SIGPIPE, &was.pipe), std::pair(SIGXFSZ, &was.file_size)}) {
    if (!is_ignored(*action)) {
      sigaddset(&was.signals.standard, number);
    }
    set_disposition(number, SIG_IGN);
  }
  set_disposition(SIGCHLD, SIG_DFL);
}

} // namespace

SignalWatch::SignalWatch() {
  take_over();
  sigemptyset(&set_);
  sigaddset(&set_, wake_up());
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(disposition_of(number))) {
      sigaddset(&set_, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &set_, &callers().signals.mask);
  thread_ = std::jthread([this](const std::stop_token& over) {
    while (!over.stop_requested()) {
      int number = 0;
      if (sigwait(&set_, &number) != 0 || number == wake_up()) {
        continue;
      }
      if (source_.stop_requested()) {
        std::_Exit(130);
      }
      source_.request_stop();
    }
  });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), wake_up());
}

const CallersSignals& callers_signals() {
  return callers().signals;
}

void restore_signals() {
  const auto& was = callers();
  pthread_sigmask(SIG_SETMASK, &was.signals.mask, nullptr);
  sigaction(SIGPIPE, &was.pipe, nullptr);
  sigaction(SIGXFSZ, &was.file_size, nullptr);
  sigaction(SIGCHLD, &was.child, nullptr);
}

} // namespace cukit::cmd
