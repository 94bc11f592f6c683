// The adapter of liblzma: one .xz stream in pieces. libarchive's own xz filter is not used: it
// takes up to 1 GiB of memory whoever asks, and passes over a second stream. Private to archive/.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace cukit::archive {

class XzDecoder {
public:
  explicit XzDecoder(std::string where);
  XzDecoder(XzDecoder&&) noexcept;
  XzDecoder& operator=(XzDecoder&&) noexcept;
  ~XzDecoder();

  enum class Status {
    needs_input, ///< all input is used up and the stream goes on
    output_full,
    needs_memory, ///< nothing goes on before allow()
    finished,     ///< the stream's end was reached and checked
  };
  struct Progress {
    Status status;
    std::size_t produced;
  };

  /// More input; what was fed before has been used up. It must outlive the steps that read it.
  void feed(std::span<const std::uint8_t> input);
  /// An integrity check that cannot be verified is an error, and so is any damage.
  Result<Progress> step(std::span<std::uint8_t> out);
  /// The input ended: an error unless the stream has.
  [[nodiscard]] Result<void> end() const;
  /// Bytes fed that come after the end of a finished stream.
  [[nodiscard]] std::size_t left_over() const;

  /// Bytes that the next block's dictionary makes necessary; the stream says so, so it is bounded
  /// by the caller.
  [[nodiscard]] std::uint64_t memory_needed() const;
  void allow(std::uint64_t memory);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace cukit::archive
