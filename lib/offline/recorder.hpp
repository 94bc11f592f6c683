// A file that remembers which of its bytes were read, and keeps them.
#pragma once

#include "base/files.hpp"
#include "base/random_access.hpp"
#include "base/sha256.hpp"

#include <map>
#include <mutex>

namespace cukit::offline {

class Recorder final : public RandomAccess {
public:
  /// `inner` must outlive everything up to end(). What was read is kept at `path`, which must not
  /// exist yet, in blocks: a later version that reads a little more will find it.
  static Result<std::unique_ptr<Recorder>> create(const RandomAccess& inner, const fs::path& path);

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Result<void> read_at(std::uint64_t offset,
                                     std::span<std::uint8_t> out) const override;
  /// Nothing more is read.
  void end() { inner_ = nullptr; }

  /// Offset and size, ascending; no two touch.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges() const;
  /// The ranges one after the other, and the digest of that. This value must outlive it.
  Result<std::pair<std::unique_ptr<RandomAccess>, Sha256>> packed() const;

private:
  Recorder(const RandomAccess& inner, Fd fd, std::unique_ptr<RandomAccess> kept)
      : inner_(&inner), size_(inner.size()), name_(inner.name()), fd_(std::move(fd)),
        kept_(std::move(kept)) {}
  Result<void> keep(std::uint64_t block) const;

  const RandomAccess* inner_;
  std::uint64_t size_;
  std::string name_;
  Fd fd_;                                                 ///< as long as the file, with holes
  std::unique_ptr<RandomAccess> kept_;                    ///< the same, for reading
  mutable std::mutex mutex_;                              ///< guards what follows
  mutable std::map<std::uint64_t, std::uint64_t> blocks_; ///< number and size
};

} // namespace cukit::offline
