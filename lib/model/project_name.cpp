#include "model/project_name.hpp"

#include "base/strings.hpp"

namespace cukit {

std::string normalised_project(std::string_view name) {
  std::string result;
  for (const char c : lower(name)) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator) {
      result += c;
    } else if (!result.ends_with('-')) {
      result += '-';
    }
  }
  return result;
}

} // namespace cukit
