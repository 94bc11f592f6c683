// What signals mean to this program, and how its children get them back as its caller had set them.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace cukit::cmd {

/// The mask and the dispositions with which cukit was started.
struct CallersSignals {
  sigset_t mask{};
  sigset_t standard{}; ///< those of the changed ones that were not ignored
};

/// Takes the signals over, as long as it lives: SIGINT, SIGTERM and SIGHUP ask the work to stop, a
/// second one ends the program at once (what it leaves in staging/ is swept by the next run). One
/// that the caller ignores (`nohup`, a script's background job) stays ignored. Writing to a pipe
/// without a reader, or past the limit of a file's size, becomes an error of that write. The end of
/// a child can be waited for, even where the caller asked not to be told of its own.
class SignalWatch {
public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

private:
  sigset_t set_{};
  std::stop_source source_;
  std::jthread thread_;
};

/// For a program that is started beside this one.
[[nodiscard]] const CallersSignals& callers_signals();
/// For a program that takes this one's place.
void restore_signals();

} // namespace cukit::cmd
