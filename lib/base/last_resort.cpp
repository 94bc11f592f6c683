#include "base/last_resort.hpp"

#include "base/result.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace cukit {

namespace {

/// Without the heap and without locks: either may be what is in trouble.
void say(std::string_view text) {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

[[noreturn]] void end() {
  ::_exit(static_cast<int>(ErrorCode::host));
}

[[noreturn]] void out_of_memory() {
  say("error: there is not enough memory\n"
      "  next: free some, or raise the limit of this process, and run the same command again\n");
  end();
}

[[noreturn]] void out_of_threads() {
  say("error: cannot start another thread: Resource temporarily unavailable\n"
      "  next: raise the limits of processes (`ulimit -u`) and memory, and run the same command "
      "again\n");
  end();
}

[[noreturn]] void terminated() {
  try {
    if (const auto current = std::current_exception()) {
      std::rethrow_exception(current);
    }
  } catch (const std::bad_alloc&) {
    out_of_memory();
  } catch (const std::exception& error) {
    const auto* failure = dynamic_cast<const std::system_error*>(&error);
    if (failure != nullptr && failure->code() == std::errc::resource_unavailable_try_again) {
      out_of_threads();
    }
    say("cukit: internal error: ");
    say(error.what());
    say("\n");
  } catch (...) {
    say("cukit: internal error: an unknown exception\n");
  }
  std::abort();
}

} // namespace

void install_last_resort() {
  std::set_new_handler(out_of_memory);
  std::set_terminate(terminated);
}

} // namespace cukit
