#include "archive/xz_decoder.hpp"

#include "archive/refuse.hpp"

#include <lzma.h>
#include <new>

namespace cukit::archive {

namespace {

const char* reason(lzma_ret code) {
  switch (code) {
  case LZMA_FORMAT_ERROR:
    return "the file is no xz stream";
  case LZMA_OPTIONS_ERROR:
    return "the xz stream asks for something that no known version has";
  case LZMA_UNSUPPORTED_CHECK:
    return "the xz stream has an integrity check of an unknown kind";
  case LZMA_BUF_ERROR:
    return "the xz stream is cut off";
  default:
    return "the xz stream is damaged";
  }
}

} // namespace

struct XzDecoder::State {
  std::string where;
  lzma_stream stream = LZMA_STREAM_INIT;
  bool finished = false;

  explicit State(std::string name) : where(std::move(name)) {
    // Too little memory for any dictionary, so that the need is known before it is met. One stream
    // only: without LZMA_CONCATENATED whatever follows is left over.
    if (lzma_stream_decoder(&stream, 1, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) {
      throw std::bad_alloc(); // its only other reasons are mistakes in the call
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { lzma_end(&stream); }
};

XzDecoder::XzDecoder(std::string where) : state_(std::make_unique<State>(std::move(where))) {}
XzDecoder::XzDecoder(XzDecoder&&) noexcept = default;
XzDecoder& XzDecoder::operator=(XzDecoder&&) noexcept = default;
XzDecoder::~XzDecoder() = default;

void XzDecoder::feed(std::span<const std::uint8_t> input) {
  state_->stream.next_in = input.data();
  state_->stream.avail_in = input.size();
}

Result<XzDecoder::Progress> XzDecoder::step(std::span<std::uint8_t> out) {
  auto& stream = state_->stream;
  stream.next_out = out.data();
  stream.avail_out = out.size();
  while (true) {
    const auto code = lzma_code(&stream, LZMA_RUN);
    const std::size_t produced = out.size() - stream.avail_out;
    switch (code) {
    case LZMA_OK:
      if (stream.avail_out != 0 && stream.avail_in != 0) {
        continue;
      }
      return Progress{stream.avail_out == 0 ? Status::output_full : Status::needs_input, produced};
    case LZMA_BUF_ERROR: // it could do nothing: not an error before the input has ended
      return Progress{stream.avail_out == 0 ? Status::output_full : Status::needs_input, produced};
    case LZMA_MEMLIMIT_ERROR:
      return Progress{Status::needs_memory, produced};
    case LZMA_STREAM_END:
      state_->finished = true;
      return Progress{Status::finished, produced};
    case LZMA_MEM_ERROR:
      return fail(ErrorCode::host, "not enough memory to unpack {}", state_->where);
    default:
      return refuse_archive(state_->where, "{}", reason(code));
    }
  }
}

Result<void> XzDecoder::end() const {
  return state_->finished ? Result<void>()
                          : refuse_archive(state_->where, "{}", reason(LZMA_BUF_ERROR));
}

std::size_t XzDecoder::left_over() const {
  return state_->stream.avail_in;
}

std::uint64_t XzDecoder::memory_needed() const {
  return lzma_memusage(&state_->stream);
}

void XzDecoder::allow(std::uint64_t memory) {
  static_cast<void>(lzma_memlimit_set(&state_->stream, memory)); // fails only when it is too little
}

} // namespace cukit::archive
