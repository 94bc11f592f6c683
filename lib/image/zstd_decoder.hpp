// The adapter of libzstd: frames one after another in pieces (RFC 8878), skippable ones passed
// over. A frame that asks for a window of more than 128 MiB is refused: that is the most zstd
// itself makes without being forced. Private to image/.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace cukit::image {

class ZstdDecoder {
public:
  explicit ZstdDecoder(std::string where);
  ZstdDecoder(ZstdDecoder&&) noexcept;
  ZstdDecoder& operator=(ZstdDecoder&&) noexcept;
  ~ZstdDecoder();

  /// More input; what was fed before has been used up. It must outlive the steps that read it.
  void feed(std::span<const std::uint8_t> input);
  /// Bytes produced; 0 means that all input is used up and more is needed. Damage is an error.
  Result<std::size_t> step(std::span<std::uint8_t> out);
  /// The input ended: an error unless it did between two frames.
  [[nodiscard]] Result<void> end() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace cukit::image
