// Stale handles. A network file system remembers folders and files; when one was replaced on its
// server, a call that meets it ends with ESTALE once, and the same call made again asks the server
// anew. A second ESTALE is a failure like any other.
#pragma once

#include <cerrno>

namespace cukit {

/// What `call`, a system call that takes a path, returns; made again after EINTR, and once after
/// ESTALE.
template <typename Call> auto look_twice(const Call& call) {
  bool was_stale = false;
  while (true) {
    const auto result = call();
    if (result >= 0) {
      return result;
    }
    if (errno == ESTALE && !was_stale) {
      was_stale = true;
    } else if (errno != EINTR) {
      return result;
    }
  }
}

/// What `read` returns, which opens a file and reads it, and says in its argument with which errno
/// it failed: a file that became stale while it was read is opened and read once more.
template <typename Read> auto read_twice(const Read& read) {
  int number = 0;
  auto result = read(number);
  return result || number != ESTALE ? result : read(number);
}

} // namespace cukit
