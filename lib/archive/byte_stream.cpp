#include "archive/byte_stream.hpp"

#include <algorithm>

namespace cukit::archive {

Result<std::size_t> FileStream::read(std::span<std::uint8_t> out) {
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), file_.size() - offset_));
  CUKIT_TRY(file_.read_at(offset_, out.first(count)));
  offset_ += count;
  return count;
}

} // namespace cukit::archive
