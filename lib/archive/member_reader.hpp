// Reads members one after the other with buffers that are kept. Private to archive/.
#pragma once

#include "archive/inflate.hpp"
#include "archive/zip.hpp"

namespace cukit::archive {

/// Part of a file, held in memory; reads outside it go to the file.
class Window final : public RandomAccess {
public:
  /// Reads [offset, offset + size) of `file`, which must outlive the window.
  static Result<Window> read(const RandomAccess& file, std::uint64_t offset, std::uint64_t size);
  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  [[nodiscard]] std::string name() const override { return file_->name(); }
  [[nodiscard]] Result<void> read_at(std::uint64_t offset,
                                     std::span<std::uint8_t> out) const override;
  /// Empty unless all of it is in memory.
  [[nodiscard]] std::span<const std::uint8_t> view(std::uint64_t offset, std::uint64_t size) const;

private:
  Window(const RandomAccess& file, std::uint64_t offset, std::vector<std::uint8_t> bytes)
      : file_(&file), offset_(offset), bytes_(std::move(bytes)) {}
  const RandomAccess* file_;
  std::uint64_t offset_;
  std::vector<std::uint8_t> bytes_;
};

using Consume = std::function<Result<void>(std::span<const std::uint8_t>)>;
/// Told how many compressed bytes were read since the last call; may return an error to stop.
using Watch = std::function<Result<void>(std::uint64_t compressed)>;

/// For one thread at a time.
class MemberReader {
public:
  Result<void> read(const RandomAccess& file, const ZipMember& member, const Consume& consume,
                    const Watch& watch);
  /// The same without copying the compressed bytes, when the window holds them.
  Result<void> read(const Window& window, const ZipMember& member, const Consume& consume,
                    const Watch& watch);

private:
  struct Run;
  Result<void> inflate(Run& run);
  Result<void> inflate_whole(Run& run, std::span<const std::uint8_t> input);
  Result<void> copy(Run& run);

  Inflater inflater_;
  std::vector<std::uint8_t> input_;
  std::vector<std::uint8_t> output_;
};

} // namespace cukit::archive
