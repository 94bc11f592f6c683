// Errors are values: everything that can fail outside our control returns Result<T>, gains context
// on its way up, and is printed in one place (cmd/main.cpp). Exceptions are caught at the adapter
// of the library that throws them.
#pragma once

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <string>
#include <utility>
#include <vector>

namespace cukit {

/// What kind of failure it is. The number is the exit code a script sees (README, "Exit codes").
enum class ErrorCode {
  expected_no =
      1, ///< the answer is "no": findings, failed check, stale lock, machine that does not meet it
  usage = 2,     ///< command line or manifest
  conflict = 3,  ///< nothing fits the demands
  source = 4,    ///< network, index, mirror
  integrity = 5, ///< digest, hostile or damaged archive
  host = 6,      ///< disk, permission, missing program
  interrupted = 130,
};

struct Error {
  ErrorCode code = ErrorCode::host;
  std::string message;    ///< lower case, no final period
  std::string where = {}; ///< file:line:column, URL (without credentials) or path; may be empty
  std::vector<std::string> causes = {}; ///< outermost first
  std::string hint = {};                ///< what to do next; may be empty

  /// The same error seen from one level up: `outer` becomes the message, the old message the first
  /// cause.
  [[nodiscard]] Error under(std::string outer) &&;
};

template <typename T> using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::host, "cannot open {}", path)`
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text,
                                         Args&&... args) {
  return tl::unexpected<Error>(
      Error{.code = code, .message = fmt::format(text, std::forward<Args>(args)...)});
}

/// An error of the operating system: the text of errno is appended, and a hint where the number has
/// a usual cause.
Error errno_error(int number, std::string message);

/// The same with errno's text appended; capture errno in the very next line after the call.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail_errno(int number, fmt::format_string<Args...> text,
                                               Args&&... args) {
  return tl::unexpected<Error>(errno_error(number, fmt::format(text, std::forward<Args>(args)...)));
}

[[noreturn]] void ensure_failed(const char* condition, const char* text, const char* file,
                                int line);

} // namespace cukit

/// A programmer's error, never the user's: on in release builds too.
#define CUKIT_ENSURE(condition, text)                                                              \
  ((condition) ? static_cast<void>(0)                                                              \
               : ::cukit::ensure_failed(#condition, text, __FILE__, __LINE__))

#define CUKIT_CONCAT_INNER(a, b) a##b
#define CUKIT_CONCAT(a, b) CUKIT_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a Result<void> or any Result whose value is not wanted) to
/// the caller.
#define CUKIT_TRY(expression)                                                                      \
  do {                                                                                             \
    if (auto cukit_try_result = (expression); !cukit_try_result) {                                 \
      return ::tl::make_unexpected(std::move(cukit_try_result).error());                           \
    }                                                                                              \
  } while (false)

/// `CUKIT_TRY_ASSIGN(auto text, read_file(path));`
#define CUKIT_TRY_ASSIGN(target, expression)                                                       \
  CUKIT_TRY_ASSIGN_INNER(CUKIT_CONCAT(cukit_try_, __COUNTER__), target, expression)
#define CUKIT_TRY_ASSIGN_INNER(name, target, expression)                                           \
  auto name = (expression);                                                                        \
  if (!name) {                                                                                     \
    return ::tl::make_unexpected(std::move(name).error());                                         \
  }                                                                                                \
  target = *std::move(name)
