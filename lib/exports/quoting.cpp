#include "exports/quoting.hpp"

#include "model/shell_quote.hpp"

#include <algorithm>

namespace cukit::exports {

bool is_shell_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string quoted_csh(std::string_view value) {
  std::string result = "'";
  for (const char c : value) {
    result += c == '\'' || c == '!' ? std::string("'\\") + c + "'" : std::string(1, c);
  }
  return result + "'";
}

std::string quoted_twice(std::string_view value, std::string_view special) {
  std::string result = "\"";
  for (const char c : value) {
    if (special.find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c;
  }
  return result + "\"";
}

std::string set_sh(const Variable& variable) {
  const auto value = single_quoted(variable.value);
  switch (variable.joins) {
  case Joins::nothing:
    return fmt::format("export {}={}\n", variable.name, value);
  case Joins::before:
    return fmt::format("export {0}={1}\"${{{0}:+:${0}}}\"\n", variable.name, value);
  case Joins::after:
    return fmt::format("export {0}=\"${{{0}:+${0} }}\"{1}\n", variable.name, value);
  }
  return {};
}

std::optional<std::string> below_user_cache(const ToolkitEnvironment& environment,
                                            const Variable& variable) {
  const auto& jit = environment.jit.string();
  if (jit.empty() || !variable.value.starts_with(jit + "/")) {
    return std::nullopt;
  }
  return "cukit/jit/" + environment.jit.filename().string() + variable.value.substr(jit.size());
}

} // namespace cukit::exports
