// Environment variables as a value: read once in main(), passed on, made up in tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cukit {

class Environment {
public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string, std::less<>> values)
      : values_(std::move(values)) {}
  static Environment of_this_process();

  /// An empty variable counts as unset, as the XDG specification and pip have it.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
  void unset(std::string_view name);
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& values() const {
    return values_;
  }
  /// NAME=VALUE strings, sorted by name.
  [[nodiscard]] std::vector<std::string> lines() const;

  /// The first executable regular file of that name in PATH, or empty. Relative PATH entries are
  /// passed over.
  [[nodiscard]] std::string find_program(std::string_view name) const;

private:
  std::map<std::string, std::string, std::less<>> values_;
};

} // namespace cukit
