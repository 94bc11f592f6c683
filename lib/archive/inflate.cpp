#include "archive/inflate.hpp"

#include "base/result.hpp"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>

namespace cukit::archive {

namespace {

std::uint32_t length32(std::size_t size) {
  CUKIT_ENSURE(size <= std::numeric_limits<std::uint32_t>::max(), "ISA-L counts in 32 bits");
  return static_cast<std::uint32_t>(size);
}

} // namespace

struct Inflater::State {
  inflate_state isal; // NOLINT(cppcoreguidelines-pro-type-member-init): begin() fills it
};

// Left uninitialised on purpose: 90 kB of tables would be cleared for nothing.
Inflater::Inflater() : state_(new State) {
  begin();
}
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;
Inflater::~Inflater() = default;

void Inflater::begin() {
  isal_inflate_init(&state_->isal);
  state_->isal.crc_flag = ISAL_DEFLATE;
}

void Inflater::feed(std::span<const std::uint8_t> input) {
  // ISA-L only reads through this pointer.
  state_->isal.next_in = const_cast<std::uint8_t*>(input.data());
  state_->isal.avail_in = length32(input.size());
}

Inflater::Progress Inflater::step(std::span<std::uint8_t> out) {
  inflate_state& isal = state_->isal;
  isal.next_out = out.data();
  isal.avail_out = length32(out.size());
  const int result = isal_inflate(&isal);
  const std::size_t produced = out.size() - isal.avail_out;
  if (result < 0) {
    return {Status::damaged, produced};
  }
  if (isal.block_state == ISAL_BLOCK_FINISH) {
    return {Status::finished, produced};
  }
  return {isal.avail_out == 0 ? Status::output_full : Status::needs_input, produced};
}

std::size_t Inflater::left_over() const {
  const auto buffered = std::max(state_->isal.read_in_length, 0) / 8;
  return state_->isal.avail_in + static_cast<std::size_t>(buffered);
}

Inflater::Progress Inflater::whole(std::span<const std::uint8_t> input,
                                   std::span<std::uint8_t> out) {
  begin();
  feed(input);
  inflate_state& isal = state_->isal;
  isal.next_out = out.data();
  isal.avail_out = length32(out.size());
  const int result = isal_inflate_stateless(&isal);
  const std::size_t produced = out.size() - isal.avail_out;
  switch (result) {
  case ISAL_DECOMP_OK:
    return {Status::finished, produced};
  case ISAL_OUT_OVERFLOW:
    return {Status::output_full, produced};
  case ISAL_END_INPUT:
    return {Status::needs_input, produced};
  default:
    return {Status::damaged, produced};
  }
}

std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
  return crc32_gzip_refl(crc, bytes.data(), bytes.size());
}

} // namespace cukit::archive
