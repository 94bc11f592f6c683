// What long work tells whoever watches it: bars on a terminal, lines elsewhere, nothing in tests.
// Implementations are safe to call from several threads and never fail.
#pragma once

#include <cstdint>
#include <string_view>

namespace cukit {

class Progress {
public:
  virtual ~Progress() = default;
  /// A piece of work starts; `total` in `unit`s (bytes when `unit` is empty), 0 when unknown.
  /// Returns its number.
  virtual int begin(std::string_view label, std::uint64_t total, std::string_view unit = {}) = 0;
  virtual void advance(int work, std::uint64_t amount) = 0;
  /// Work that starts over (a broken download): `amount` is what is done now.
  virtual void reset(int work, std::uint64_t amount) = 0;
  virtual void end(int work) = 0;
  /// One line that stays: a stage begins, something was retried.
  virtual void say(std::string_view line) = 0;
};

/// Swallows everything.
class Silent final : public Progress {
public:
  int begin(std::string_view, std::uint64_t, std::string_view) override { return 0; }
  void advance(int, std::uint64_t) override {}
  void reset(int, std::uint64_t) override {}
  void end(int) override {}
  void say(std::string_view) override {}
};

} // namespace cukit
