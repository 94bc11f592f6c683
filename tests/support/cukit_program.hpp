// The binary under test as a user starts it: an environment made from nothing, a home of its own,
// and a process that can be signalled.
#pragma once

#include "base/child.hpp"
#include "base/files.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace cukit::test {

/// A scratch folder with a home, a manifest and the environment of the program.
class Playground {
public:
  Playground();
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }
  [[nodiscard]] fs::path home() const { return path() / "home"; }
  Environment environment;

  fs::path write(const std::string& name, const std::string& text) const;
  /// Runs CUKIT_BINARY to its end.
  [[nodiscard]] Finished run(std::vector<std::string> arguments) const;
  /// The same in a network namespace of its own, which has no route to anywhere, not even to this
  /// machine. Where cuts_off() is false there is no such thing.
  [[nodiscard]] Finished run_cut_off(std::vector<std::string> arguments) const;
  [[nodiscard]] bool cuts_off() const;
  /// Names in a folder of the home, empty when it does not exist.
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const;

private:
  TempDirectory folder_;
};

/// A started program; killed when the value dies.
class Running {
public:
  Running(const Playground& playground, std::vector<std::string> arguments);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();
  void signal(int number) const;
  /// The exit code (128 + signal when killed by one), or -1 when it still runs after that time; the
  /// program is then left alone.
  int wait(std::chrono::milliseconds limit);
  [[nodiscard]] std::string output() const; ///< both streams so far
  /// Whether its output holds `text`, now or before the time is over or the program ends.
  bool says(const std::string& text, std::chrono::milliseconds limit);

private:
  fs::path log_;
  pid_t pid_ = 0;
};

} // namespace cukit::test
