// Bytes that can be read once, from front to back: a file, or a download that is unpacked while it
// arrives.
#pragma once

#include "base/random_access.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace cukit::archive {

class ByteStream {
public:
  virtual ~ByteStream() = default;
  /// At least one byte of `out` is filled, or the stream is at its end and 0 returned. May wait;
  /// called from one thread at a time.
  virtual Result<std::size_t> read(std::span<std::uint8_t> out) = 0;
  /// Where the bytes come from, for messages.
  [[nodiscard]] virtual std::string name() const = 0;
};

/// A file from its first byte to its last; it must outlive the stream.
class FileStream final : public ByteStream {
public:
  explicit FileStream(const RandomAccess& file) : file_(file) {}
  Result<std::size_t> read(std::span<std::uint8_t> out) override;
  [[nodiscard]] std::string name() const override { return file_.name(); }

private:
  const RandomAccess& file_;
  std::uint64_t offset_ = 0;
};

} // namespace cukit::archive
