// What a maintainer would ask for: each decision in one line on standard error, with its module.
// Silent unless a user asked (-v, -vv, CUKIT_LOG); never part of what a program reads.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace cukit {

enum class LogLevel {
  none,
  decisions, ///< what was taken, made or passed over, and why
  details,   ///< also each request, each file that was there already, each lock waited for
};

/// "" and "0" nothing, "1" decisions, "2" details; else names of modules, parted by commas, whose
/// details are wanted: "resolve,http". Called once, before other threads start.
void start_log(LogLevel level, std::string_view modules = {});

/// The level and modules that a value of CUKIT_LOG asks for.
struct LogWish {
  LogLevel level = LogLevel::none;
  std::string_view modules;
};
[[nodiscard]] LogWish log_wish(std::string_view value);

[[nodiscard]] bool logs(LogLevel level, std::string_view module) noexcept;

/// One line, in one write: lines of several threads do not mix. Control characters are shown as
/// such; logins in addresses must have been removed by the caller (redact_url).
void write_log(std::string_view module, std::string_view text);

/// Arguments are evaluated in any case: pass what is at hand.
template <typename... Args>
void log_decision(std::string_view module, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(LogLevel::decisions, module)) {
    write_log(module, fmt::format(format, std::forward<Args>(args)...));
  }
}

template <typename... Args>
void log_detail(std::string_view module, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(LogLevel::details, module)) {
    write_log(module, fmt::format(format, std::forward<Args>(args)...));
  }
}

} // namespace cukit
