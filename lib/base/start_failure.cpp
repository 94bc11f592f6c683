#include "base/start_failure.hpp"

#include <cerrno>
#include <sys/statvfs.h>

namespace cukit {

bool is_on_noexec(const std::string& path) {
  struct statvfs info {};
  return ::statvfs(path.c_str(), &info) == 0 && (info.f_flag & ST_NOEXEC) != 0;
}

Error start_error(int number, const std::string& program) {
  auto error = errno_error(number, fmt::format("cannot start {}", program));
  if (number == EACCES && is_on_noexec(program)) {
    error.message = fmt::format("cannot start {}: its file system is mounted noexec", program);
    error.hint = "point CUKIT_HOME (TMPDIR for a temporary folder) at a file system that programs "
                 "may run from, or mount this one with `exec`";
  }
  return error;
}

} // namespace cukit
