// An owned file descriptor. Closing in the destructor ignores errors; a writer that must know calls
// close().
#pragma once

#include "base/result.hpp"

namespace cukit {

class Fd {
public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  /// Closes and reports what close() reported: on some file systems a full disk is first seen here.
  Result<void> close();

private:
  int number_ = -1;
};

} // namespace cukit
