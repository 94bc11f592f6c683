// The adapter of ISA-L: raw deflate streams in pieces, at constant memory, and CRC-32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace cukit::archive {

class Inflater {
public:
  Inflater();
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;
  ~Inflater();

  enum class Status {
    needs_input, ///< all input is used up and the stream goes on
    output_full,
    finished,
    damaged,
  };
  struct Progress {
    Status status;
    std::size_t produced;
  };

  /// A new stream.
  void begin();
  /// More input; what was fed before has been used up. It must outlive the steps that read it.
  void feed(std::span<const std::uint8_t> input);
  Progress step(std::span<std::uint8_t> out);
  /// Bytes fed that come after the end of a finished stream.
  [[nodiscard]] std::size_t left_over() const;

  /// A whole stream that fits into `out`, several times faster for small ones than begin() and
  /// step(). `output_full` when it does not fit; left_over() tells as above.
  Progress whole(std::span<const std::uint8_t> input, std::span<std::uint8_t> out);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Continues a CRC-32 as zip files use it; the first call starts from 0.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes);

} // namespace cukit::archive
