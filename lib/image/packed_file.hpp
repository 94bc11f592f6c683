// A stream packed into a file, with the digests of both. The bytes depend on the content and the
// compression alone, never on the machine, the threads or how they were written: what is packed is
// cut into pieces of one size, and each piece is packed by itself.
#pragma once

#include "base/sha256.hpp"
#include "base/thread_pool.hpp"

#include <deque>
#include <memory>
#include <string>

namespace cukit::image {

/// gzip is one member (RFC 1952), of which a piece sees the end of the one before; zstd is one
/// frame (RFC 8878) for each piece.
enum class Compression { none, gzip, zstd };
Result<Compression> parse_compression(std::string_view name);

struct Packed {
  Sha256 digest;          ///< of the file
  std::uint64_t size = 0; ///< of the file
  Sha256 content;         ///< of what was packed: a layer's diff_id
};

/// For one thread. Pieces are packed by the pool while more is written, and go into the file in
/// their order.
class PackedFile {
public:
  /// A file that must not exist yet. The pool must outlive it.
  static Result<PackedFile> create(const fs::path& path, Compression compression, ThreadPool& pool);
  Result<void> write(std::string_view bytes);
  /// Ends it. The file is not synced.
  Result<Packed> finish();

private:
  struct Piece;
  struct Done; ///< how the pool's threads say so

  PackedFile(Fd file, Compression compression, ThreadPool& pool);
  Result<void> put(std::string_view bytes);
  /// Hands what is waiting to the pool.
  void submit(bool is_last);
  /// Puts packed pieces into the file until no more than so many are under way.
  Result<void> settle(std::size_t most);

  Fd file_;
  Compression compression_;
  ThreadPool* pool_;
  Sha256Stream content_ = {};
  Sha256Stream digest_ = {};
  std::uint64_t size_ = 0;
  std::uint64_t unpacked_ = 0;
  std::uint32_t checksum_ = 0; ///< CRC-32 of what is in the file, for gzip
  std::string waiting_ = {};   ///< less than a piece, behind what gzip looks back at
  std::size_t seen_ = 0;       ///< bytes at its front that belong to the piece before
  std::shared_ptr<Done> done_; ///< shared with the pool, as the pieces are
  std::deque<std::shared_ptr<Piece>> pending_ = {};
};

} // namespace cukit::image
