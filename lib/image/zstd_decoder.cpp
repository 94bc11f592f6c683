#include "image/zstd_decoder.hpp"

#include "archive/refuse.hpp"

#include <new>
#include <zstd.h>

namespace cukit::image {

namespace {

constexpr int k_window_log = 27;

} // namespace

struct ZstdDecoder::State {
  std::string where;
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ZSTD_inBuffer input{nullptr, 0, 0};
  bool is_between_frames = true;

  explicit State(std::string name) : where(std::move(name)) {
    if (context == nullptr ||
        ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, k_window_log)) != 0U) {
      ZSTD_freeDCtx(context);
      throw std::bad_alloc(); // the parameter is one that every version takes
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ZSTD_freeDCtx(context); }
};

ZstdDecoder::ZstdDecoder(std::string where) : state_(std::make_unique<State>(std::move(where))) {}
ZstdDecoder::ZstdDecoder(ZstdDecoder&&) noexcept = default;
ZstdDecoder& ZstdDecoder::operator=(ZstdDecoder&&) noexcept = default;
ZstdDecoder::~ZstdDecoder() = default;

void ZstdDecoder::feed(std::span<const std::uint8_t> input) {
  state_->input = {input.data(), input.size(), 0};
}

Result<std::size_t> ZstdDecoder::step(std::span<std::uint8_t> out) {
  auto& input = state_->input;
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  while (output.pos == 0) {
    const auto before = input.pos;
    const auto left = ZSTD_decompressStream(state_->context, &output, &input);
    if (ZSTD_isError(left) != 0U) {
      return archive::refuse_archive(state_->where, "its zstd data is damaged ({})",
                                     ZSTD_getErrorName(left));
    }
    state_->is_between_frames =
        left == 0 || (state_->is_between_frames && input.pos == before && output.pos == 0);
    if (output.pos == 0 && input.pos == input.size) {
      return std::size_t{0};
    }
  }
  return output.pos;
}

Result<void> ZstdDecoder::end() const {
  return state_->is_between_frames
             ? Result<void>()
             : archive::refuse_archive(state_->where, "it ends inside its zstd data");
}

} // namespace cukit::image
