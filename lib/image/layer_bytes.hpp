// The bytes of an image's layer: as they are, or unpacked when the file is gzip (RFC 1952) or zstd
// (RFC 8878), of which many members or frames may follow each other. Private to image/.
#pragma once

#include "archive/byte_stream.hpp"
#include "archive/inflate.hpp"
#include "image/zstd_decoder.hpp"

#include <optional>
#include <vector>

namespace cukit::image {

class LayerBytes {
public:
  /// `allowed`: bytes that may come out, of this file and others; it is counted down, and must
  /// outlive it.
  LayerBytes(const RandomAccess& file, std::uint64_t& allowed);
  /// The next piece; empty at the end. It is good until the next call. A file that unpacks to more
  /// than any real layer of its size is an error.
  Result<std::span<const std::uint8_t>> next();

private:
  enum class Form { unknown, plain, gzip, zstd };
  /// At least `count` bytes are in front, unless the file ends before.
  Result<void> want(std::size_t count);
  Result<void> begin();
  Result<std::span<const std::uint8_t>> piece();
  Result<std::span<const std::uint8_t>> next_plain();
  Result<std::span<const std::uint8_t>> next_gzip();
  Result<std::span<const std::uint8_t>> next_zstd();
  Result<std::size_t> gzip_header() const;
  Result<bool> begin_member();
  [[nodiscard]] std::span<const std::uint8_t> front() const {
    return std::span(input_).subspan(at_, filled_ - at_);
  }

  archive::FileStream stream_;
  std::uint64_t& allowed_;
  std::vector<std::uint8_t> input_;
  std::vector<std::uint8_t> output_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  Form form_ = Form::unknown;
  archive::Inflater inflater_;
  bool is_inside_ = false; ///< of a member of gzip
  std::optional<ZstdDecoder> zstd_;
};

} // namespace cukit::image
