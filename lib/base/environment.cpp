#include "base/environment.hpp"

#include "base/strings.hpp"

#include <sys/stat.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): unistd.h declares it for GNU
                       // sources alone

namespace cukit {

Environment Environment::of_this_process() {
  Environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      result.set(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
    }
  }
  return result;
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) {
    return std::nullopt;
  }
  return found->second;
}

void Environment::unset(std::string_view name) {
  const auto found = values_.find(name);
  if (found != values_.end()) {
    values_.erase(found);
  }
}

std::vector<std::string> Environment::lines() const {
  std::vector<std::string> result;
  result.reserve(values_.size());
  for (const auto& [name, value] : values_) {
    result.push_back(name + "=" + value);
  }
  return result;
}

std::string Environment::find_program(std::string_view name) const {
  const auto path = get("PATH");
  if (!path) {
    return {};
  }
  for (const auto folder : split(*path, ':')) {
    if (!folder.starts_with('/')) {
      continue;
    }
    std::string candidate = std::string(folder) + "/" + std::string(name);
    struct stat info {};
    if (::stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

} // namespace cukit
