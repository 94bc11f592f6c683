// SHA-256: the value and the stream that computes it (OpenSSL EVP, which uses the processor's SHA
// instructions).
#pragma once

#include "base/files.hpp"

#include <array>
#include <compare>
#include <memory>

namespace cukit {

class Sha256 {
public:
  Sha256() = default; ///< all zero
  explicit Sha256(std::array<std::uint8_t, 32> bytes) : bytes_(bytes) {}
  /// 64 hexadecimal digits, with or without the prefix "sha256:"; upper case is refused, so that
  /// one digest has one spelling.
  static Result<Sha256> parse(std::string_view text);

  [[nodiscard]] std::string hex() const;
  [[nodiscard]] std::string text() const {
    return "sha256:" + hex();
  } ///< as locks and reports spell it
  [[nodiscard]] const std::array<std::uint8_t, 32>& bytes() const { return bytes_; }
  auto operator<=>(const Sha256&) const = default;

private:
  std::array<std::uint8_t, 32> bytes_{};
};

/// Not for several threads at once. After finish() the stream is fresh again.
class Sha256Stream {
public:
  Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  ~Sha256Stream();
  void update(std::string_view bytes);
  void update(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Sha256 finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Sha256 sha256_of(std::string_view bytes);
Result<Sha256> sha256_of_file(const fs::path& path);

} // namespace cukit
