#include "base/log.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <string>
#include <unistd.h>
#include <vector>

namespace cukit {

namespace {

struct LogState {
  LogLevel level = LogLevel::none;
  std::vector<std::string> modules; ///< empty: all
};

LogState& log_state() {
  static LogState state;
  return state;
}

} // namespace

LogWish log_wish(std::string_view value) {
  if (value.empty() || value == "0") {
    return {};
  }
  if (value == "1") {
    return {.level = LogLevel::decisions, .modules = {}};
  }
  return {.level = LogLevel::details, .modules = value == "2" ? std::string_view() : value};
}

void start_log(LogLevel level, std::string_view modules) {
  auto& state = log_state();
  state.level = level;
  state.modules.clear();
  for (const auto module : split(modules, ',')) {
    if (!module.empty()) {
      state.modules.emplace_back(module);
    }
  }
}

bool logs(LogLevel level, std::string_view module) noexcept {
  const auto& state = log_state();
  return level != LogLevel::none && level <= state.level &&
         (state.modules.empty() ||
          std::find(state.modules.begin(), state.modules.end(), module) != state.modules.end());
}

void write_log(std::string_view module, std::string_view text) {
  const auto line = fmt::format("cukit {}: {}\n", module, printable(text));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace cukit
