#include "ui/output.hpp"

#include "base/result.hpp"
#include "base/strings.hpp"
#include "base/unicode.hpp"
#include "ui/terminal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <unistd.h>

namespace cukit::ui {

namespace {

std::atomic<int> g_output_error{0};               ///< errno of the first write that failed
std::array<std::atomic<bool>, 3> g_has_colours{}; ///< by descriptor

/// 0, or errno. A pipe that another program made non-blocking is waited for.
int write_out(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd room{descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void write_output(std::string_view text) {
  if (g_output_error == 0) { // after a gap nothing that follows would be understood
    g_output_error = write_out(STDOUT_FILENO, text);
  }
}

/// Length of a colour of Terminal::paint that `text` begins with, or 0.
std::size_t colour_at(std::string_view text) {
  for (const auto code : k_colour_codes) {
    const auto size = code.size() + 3;
    if (text.size() >= size && text.starts_with("\x1b[") && text.substr(2).starts_with(code) &&
        text[size - 1] == 'm') {
      return size;
    }
  }
  return 0;
}

} // namespace

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      // The lowest free number is this one, since those below are open by now.
      static_cast<void>(!::open("/dev/null", O_RDONLY));
    }
  }
}

std::string shown(std::string_view text, bool with_colours) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_character(text);
    auto bytes = std::max<std::size_t>(character.bytes, 1);
    const auto colour = with_colours && text.front() == '\x1b' ? colour_at(text) : 0;
    if (colour > 0) {
      bytes = colour;
      out += text.substr(0, bytes);
    } else if (text.front() == '\n' || text.front() == '\t') {
      out += text.front();
    } else if (character.bytes == 0 || is_control(character.value)) {
      out += printable(text.substr(0, bytes));
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

void pass_colours(int descriptor) {
  if (descriptor >= 0 && descriptor < static_cast<int>(std::size(g_has_colours))) {
    g_has_colours[static_cast<std::size_t>(descriptor)] = true;
  }
}

void print(std::string_view text) {
  write_output(shown(text, g_has_colours[STDOUT_FILENO]));
}

void say(std::string_view text) {
  write_out(STDERR_FILENO, shown(text, g_has_colours[STDERR_FILENO]));
}

void print_data(std::string_view text) {
  if (::isatty(STDOUT_FILENO) == 1) {
    print(text);
  } else {
    write_output(text);
  }
}

void draw(std::string_view text) {
  write_out(STDERR_FILENO, text);
}

int exit_code_after_output(int code) {
  const int number = g_output_error;
  if (number == 0 || number == EPIPE) {
    return code;
  }
  say("error: " + errno_error(number, "cannot write to standard output").message +
      "\n  next: what was printed is not complete; give it a place with room and run the same "
      "command again\n");
  return code == 0 || code == static_cast<int>(ErrorCode::expected_no)
             ? static_cast<int>(ErrorCode::host)
             : code;
}

} // namespace cukit::ui
