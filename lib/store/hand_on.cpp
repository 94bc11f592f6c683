#include "store/hand_on.hpp"

#include <fcntl.h>
#include <sys/file.h>

namespace cukit::store {

namespace {

constexpr int k_high_descriptor = 500; // shells and scripts take low numbers for themselves

} // namespace

Result<void> hand_on_hold(const fs::path& folder) {
  CUKIT_TRY_ASSIGN(const Fd fd, open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A copy of the descriptor is the same lock, and stays open in the next program.
  int copy = ::fcntl(fd.get(), F_DUPFD, k_high_descriptor);
  if (copy < 0) { // so many are not allowed here
    copy = ::fcntl(fd.get(), F_DUPFD, 0);
  }
  if (copy < 0) {
    return fail_errno(errno, "cannot keep hold of {}", folder.string());
  }
  while (::flock(copy, LOCK_SH) != 0 && errno == EINTR) {
  }
  return {};
}

} // namespace cukit::store
