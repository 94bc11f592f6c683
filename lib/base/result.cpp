#include "base/result.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace cukit {

Error Error::under(std::string outer) && {
  Error result = std::move(*this);
  result.causes.insert(result.causes.begin(), std::move(result.message));
  result.message = std::move(outer);
  return result;
}

Error errno_error(int number, std::string message) {
  Error error{.code = ErrorCode::host, .message = {}};
  error.message =
      fmt::format("{}: {}", message, std::error_code(number, std::generic_category()).message());
  switch (number) {
  case ENOSPC:
  case EDQUOT:
    error.hint =
        "free some space, or point CUKIT_HOME at a larger disk, and run the same command again";
    break;
  case EFBIG:
    error.hint = "raise the limit of a file's size (`ulimit -f`), or point CUKIT_HOME at a file "
                 "system that keeps larger files, and run the same command again";
    break;
  case EACCES:
  case EPERM:
    error.hint = "check who owns the path, or point CUKIT_HOME at a folder you may write";
    break;
  case EROFS:
    error.hint = "the file system is read-only; point CUKIT_HOME at a writable folder";
    break;
  case EMFILE:
  case ENFILE:
    error.hint = "raise the limit of open files (`ulimit -n`)";
    break;
  case EIO:
    error.hint = "the disk or its driver failed: look at the kernel's messages (`dmesg`), then run "
                 "the same command again";
    break;
  case ENOMEM:
    error.hint = "free some memory, or raise the limit of this process, and run the same command "
                 "again";
    break;
  case EXDEV:
    error.hint = "store/, trees/, names/ and staging/ of a home must lie on one file system";
    break;
  case ESTALE:
    error.hint = "the file server lost track of the path: run the same command again, or point "
                 "CUKIT_HOME at a local disk";
    break;
  default:
    break;
  }
  return error;
}

void ensure_failed(const char* condition, const char* text, const char* file, int line) {
  std::fprintf(stderr, "cukit: internal error: %s (%s) at %s:%d\n", text, condition, file, line);
  std::abort();
}

} // namespace cukit
