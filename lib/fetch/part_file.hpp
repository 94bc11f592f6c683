// A download in progress on disk: `<sha256>.part` with the bytes, `<sha256>.part.json` with where
// they come from, and at the end
// `<sha256>`. The running digest is kept beside the bytes, so that a break in the line costs no
// second reading.
#pragma once

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>

namespace cukit::fetch {

/// Told about every piece that was hashed.
using Hashed = std::function<void(std::uint64_t bytes)>;

/// Whatever is not a file with one name goes: a cache may be emptied at any time, and what a link
/// leads to stays as it is.
Result<void> make_room(const fs::path& path);

/// Digest of a file or its first `size` bytes; a shorter file gives the digest of what it has.
Result<Sha256> hash_file(const Fd& file, std::uint64_t size, const Hashed& hashed,
                         const std::stop_token& stop);

/// Where the bytes of a .part come from; resuming needs all three to be the same still.
struct Origin {
  std::string location; ///< without credentials
  std::string etag;     ///< strong, or empty when the server gives none
  std::uint64_t size = 0;
  bool operator==(const Origin&) const = default;
};

/// Of the file that only one process works at a download.
constexpr const char* k_lock_suffix = ".lock";

class PartFile {
public:
  PartFile(fs::path folder, const Sha256& sha256, std::uint64_t size);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile(); ///< gives back what was reserved and not written

  [[nodiscard]] const fs::path& finished_path() const { return finished_; }
  [[nodiscard]] fs::path lock_path() const { return with_suffix(k_lock_suffix); }
  [[nodiscard]] fs::path part_path() const { return with_suffix(".part"); }
  [[nodiscard]] fs::path side_path() const { return with_suffix(".part.json"); }

  /// Opens the .part, made when missing, and hashes what it has. One that is longer than the file
  /// is begun anew. An error leaves nothing open: the next call begins again.
  Result<void> open(const Hashed& hashed, const std::stop_token& stop);
  [[nodiscard]] bool is_open() const { return fd_.is_open(); }
  [[nodiscard]] std::uint64_t size() const { return have_; }
  /// Of the bytes in it; empty when nobody can tell.
  [[nodiscard]] const std::optional<Origin>& origin() const { return origin_; }

  Result<void> restart(); ///< no bytes
  Result<void>
  come_from(const Origin* origin); ///< written beside the part; nullptr: it cannot be resumed
  /// Whether the file system has the room for the rest now; none of it is taken.
  Result<void> check_room() const;
  /// Reserves a step ahead, so that a full disk is seen before it and files lie in few pieces.
  Result<void> append(std::span<const std::uint8_t> bytes);
  /// Ends the digest; the part must be restarted or finished after it.
  [[nodiscard]] Sha256 digest();
  Result<void> finish(); ///< the part becomes the finished file

private:
  [[nodiscard]] fs::path with_suffix(const char* suffix) const;
  [[nodiscard]] Error no_room(int number) const;
  Result<void> reserve_ahead(std::uint64_t size);
  void give_back_room();
  std::optional<Origin> read_origin() const;

  fs::path folder_;
  fs::path finished_;
  std::uint64_t wanted_size_;
  Fd fd_;
  Sha256Stream hash_;
  std::uint64_t have_ = 0;
  std::uint64_t reserved_ = 0; ///< up to this offset
  std::optional<Origin> origin_;
};

} // namespace cukit::fetch
