#include "offline/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cukit::offline {

namespace {

constexpr std::uint64_t k_block = 64U << 10U;

/// The kept bytes without the holes between them.
class Packed final : public RandomAccess {
public:
  Packed(const RandomAccess& kept, std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges,
         std::string name)
      : kept_(kept), ranges_(std::move(ranges)), name_(std::move(name)) {}
  [[nodiscard]] std::uint64_t size() const override {
    std::uint64_t sum = 0;
    for (const auto& [offset, size] : ranges_) {
      sum += size;
    }
    return sum;
  }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Result<void> read_at(std::uint64_t offset,
                                     std::span<std::uint8_t> out) const override {
    for (const auto& [begin, size] : ranges_) {
      if (offset >= size) {
        offset -= size;
        continue;
      }
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size - offset));
      CUKIT_TRY(kept_.read_at(begin + offset, out.first(count)));
      out = out.subspan(count);
      offset = 0;
    }
    return out.empty() ? Result<void>() : fail(ErrorCode::host, "{} ends early", name_);
  }

private:
  const RandomAccess& kept_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
  std::string name_;
};

} // namespace

Result<std::unique_ptr<Recorder>> Recorder::create(const RandomAccess& inner,
                                                   const fs::path& path) {
  // Truncated: another place may have begun before and failed.
  CUKIT_TRY_ASSIGN(Fd fd, open_file(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  if (::ftruncate(fd.get(), static_cast<off_t>(inner.size())) != 0) {
    return fail_errno(errno, "cannot make {}", path.string());
  }
  CUKIT_TRY_ASSIGN(auto kept, open_local_file(path));
  return std::unique_ptr<Recorder>(new Recorder(inner, std::move(fd), std::move(kept)));
}

Result<void> Recorder::keep(std::uint64_t block) const {
  const std::uint64_t begin = block * k_block;
  std::vector<std::uint8_t> bytes(
      static_cast<std::size_t>(std::min<std::uint64_t>(k_block, size_ - begin)));
  CUKIT_TRY(inner_->read_at(begin, bytes));
  if (::lseek(fd_.get(), static_cast<off_t>(begin), SEEK_SET) < 0) {
    return fail_errno(errno, "cannot write a temporary file");
  }
  CUKIT_TRY(write_all(fd_.get(),
                      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  blocks_[block] = bytes.size();
  return {};
}

Result<void> Recorder::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    return fail(ErrorCode::integrity, "{} ends at byte {}, but {} bytes from {} are needed", name_,
                size_, out.size(), offset);
  }
  if (out.empty()) {
    return {};
  }
  const std::lock_guard guard(mutex_);
  for (std::uint64_t block = offset / k_block; block <= (offset + out.size() - 1) / k_block;
       ++block) {
    if (!blocks_.contains(block)) {
      CUKIT_TRY(keep(block));
    }
  }
  return kept_->read_at(offset, out);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Recorder::ranges() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  for (const auto& [block, size] : blocks_) {
    const std::uint64_t begin = block * k_block;
    if (!result.empty() && result.back().first + result.back().second == begin) {
      result.back().second += size;
    } else {
      result.emplace_back(begin, size);
    }
  }
  return result;
}

Result<std::pair<std::unique_ptr<RandomAccess>, Sha256>> Recorder::packed() const {
  auto file = std::make_unique<Packed>(*kept_, ranges(), name_);
  Sha256Stream stream;
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(k_block));
  for (std::uint64_t at = 0; at < file->size();) {
    const auto piece = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file->size() - at)));
    CUKIT_TRY(file->read_at(at, piece));
    stream.update(std::span<const std::uint8_t>(piece));
    at += piece.size();
  }
  return std::pair<std::unique_ptr<RandomAccess>, Sha256>(std::move(file), stream.finish());
}

} // namespace cukit::offline
