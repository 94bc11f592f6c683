#include "image/layer_bytes.hpp"

#include "archive/refuse.hpp"
#include "base/limits.hpp"

#include <algorithm>
#include <array>

namespace cukit::image {

namespace {

constexpr std::size_t k_layer_piece = 256U << 10U;
constexpr std::size_t k_gzip_trailer = 8; // CRC-32 and size; the image's digests say more

bool starts_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

bool is_gzip(std::span<const std::uint8_t> bytes) {
  static constexpr std::array<std::uint8_t, 3> magic = {0x1f, 0x8b, 8};
  return starts_with(bytes, magic);
}

bool is_zstd(std::span<const std::uint8_t> bytes) {
  static constexpr std::array<std::uint8_t, 4> magic = {0x28, 0xb5, 0x2f, 0xfd};
  return starts_with(bytes, magic);
}

} // namespace

LayerBytes::LayerBytes(const RandomAccess& file, std::uint64_t& allowed)
    : stream_(file), allowed_(allowed), input_(k_layer_piece), output_(k_layer_piece) {}

Result<void> LayerBytes::want(std::size_t count) {
  if (at_ > 0 && filled_ - at_ < count) {
    std::copy(input_.begin() + static_cast<std::ptrdiff_t>(at_),
              input_.begin() + static_cast<std::ptrdiff_t>(filled_), input_.begin());
    filled_ -= at_;
    at_ = 0;
  }
  while (filled_ - at_ < count) {
    CUKIT_TRY_ASSIGN(const auto got, stream_.read(std::span(input_).subspan(filled_)));
    if (got == 0) {
      break;
    }
    filled_ += got;
  }
  return {};
}

Result<void> LayerBytes::begin() {
  CUKIT_TRY(want(4));
  form_ = is_gzip(front()) ? Form::gzip : is_zstd(front()) ? Form::zstd : Form::plain;
  if (form_ == Form::zstd) {
    zstd_.emplace(stream_.name());
    zstd_->feed(front());
    at_ = filled_;
  }
  return {};
}

Result<std::span<const std::uint8_t>> LayerBytes::next() {
  if (form_ == Form::unknown) {
    CUKIT_TRY(begin());
  }
  CUKIT_TRY_ASSIGN(const auto bytes, piece());
  if (bytes.size() > allowed_) {
    return archive::refuse_archive(stream_.name(), "it unpacks to far more than any image's layer");
  }
  allowed_ -= bytes.size();
  return bytes;
}

Result<std::span<const std::uint8_t>> LayerBytes::piece() {
  return form_ == Form::gzip ? next_gzip() : form_ == Form::zstd ? next_zstd() : next_plain();
}

Result<std::span<const std::uint8_t>> LayerBytes::next_plain() {
  CUKIT_TRY(want(1));
  const auto bytes = front();
  at_ = filled_;
  return bytes;
}

/// Where the deflate stream of the member in front begins.
Result<std::size_t> LayerBytes::gzip_header() const {
  const auto bytes = front();
  std::size_t at = 10;
  const unsigned flags = bytes.size() > at ? bytes[3] : 0U;
  if ((flags & 4U) != 0 && bytes.size() > at + 2) { // FEXTRA
    at += 2U + bytes[at] + 256U * bytes[at + 1];
  }
  for (const unsigned text : {8U, 16U}) { // FNAME, FCOMMENT
    while ((flags & text) != 0 && at < bytes.size() && bytes[at] != 0) {
      ++at;
    }
    at += (flags & text) != 0 ? 1 : 0;
  }
  at += (flags & 2U) != 0 ? 2 : 0; // FHCRC
  if (at >= bytes.size()) {
    return archive::refuse_archive(stream_.name(), "it has a damaged gzip header");
  }
  return at;
}

/// Builders that make a layer out of pieces put one member behind the other; anything else behind
/// a member is padding.
Result<bool> LayerBytes::begin_member() {
  CUKIT_TRY(want(input_.size() / 2));
  if (!is_gzip(front())) {
    return false;
  }
  CUKIT_TRY_ASSIGN(const auto header, gzip_header());
  inflater_.begin();
  inflater_.feed(front().subspan(header));
  at_ = filled_;
  is_inside_ = true;
  return true;
}

Result<std::span<const std::uint8_t>> LayerBytes::next_gzip() {
  using Status = archive::Inflater::Status;
  while (true) {
    if (!is_inside_) {
      CUKIT_TRY_ASSIGN(const bool has_more, begin_member());
      if (!has_more) {
        return std::span<const std::uint8_t>();
      }
    }
    const auto progress = inflater_.step(output_);
    if (progress.status == Status::damaged) {
      return archive::refuse_archive(stream_.name(), "its gzip data is damaged");
    }
    if (progress.status == Status::finished) {
      is_inside_ = false;
      at_ = filled_ - inflater_.left_over();
      CUKIT_TRY(want(k_gzip_trailer));
      at_ += std::min(k_gzip_trailer, filled_ - at_);
    } else if (progress.status == Status::needs_input) {
      CUKIT_TRY(want(1));
      if (front().empty() && progress.produced == 0) {
        return archive::refuse_archive(stream_.name(), "it ends inside its gzip data");
      }
      inflater_.feed(front());
      at_ = filled_;
    }
    if (progress.produced > 0) {
      return std::span<const std::uint8_t>(output_.data(), progress.produced);
    }
  }
}

Result<std::span<const std::uint8_t>> LayerBytes::next_zstd() {
  while (true) {
    CUKIT_TRY_ASSIGN(const auto produced, zstd_->step(output_));
    if (produced > 0) {
      return std::span<const std::uint8_t>(output_.data(), produced);
    }
    CUKIT_TRY(want(1));
    if (front().empty()) {
      CUKIT_TRY(zstd_->end());
      return std::span<const std::uint8_t>();
    }
    zstd_->feed(front());
    at_ = filled_;
  }
}

} // namespace cukit::image
