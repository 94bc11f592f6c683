#include "image/packed_file.hpp"

#include <algorithm>
#include <condition_variable>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <zlib.h>
#include <zstd.h>

namespace cukit::image {

namespace {

constexpr std::size_t k_piece = 1U << 20U;
constexpr std::size_t k_look_back = 32U << 10U; ///< deflate's window
constexpr int k_gzip_level = 6;
constexpr int k_zstd_level = 9;

/// What a piece becomes; nothing when the library failed.
struct Piece {
  std::string_view bytes;
  std::string_view before; ///< what stands in front of it
  bool is_last = false;
  std::string packed = {};
  std::uint32_t checksum = 0;
  bool failed = false;
};

bool deflate_piece(Piece& piece) {
  ::z_stream stream = {};
  if (::deflateInit2(&stream, k_gzip_level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return false;
  }
  const std::unique_ptr<::z_stream, int (*)(::z_streamp)> owner(&stream, ::deflateEnd);
  const auto bytes_of = [](std::string_view text) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  };
  if (!piece.before.empty() &&
      ::deflateSetDictionary(&stream, bytes_of(piece.before),
                             static_cast<uInt>(piece.before.size())) != Z_OK) {
    return false;
  }
  // a block that is flushed ends with an empty one of its own
  piece.packed.resize(::deflateBound(&stream, piece.bytes.size()) + 16);
  stream.next_in = bytes_of(piece.bytes);
  stream.avail_in = static_cast<uInt>(piece.bytes.size());
  stream.next_out = bytes_of(piece.packed);
  stream.avail_out = static_cast<uInt>(piece.packed.size());
  const int code = ::deflate(&stream, piece.is_last ? Z_FINISH : Z_SYNC_FLUSH);
  if (code != (piece.is_last ? Z_STREAM_END : Z_OK) || stream.avail_in != 0) {
    return false;
  }
  piece.packed.resize(piece.packed.size() - stream.avail_out);
  piece.checksum =
      static_cast<std::uint32_t>(::crc32_z(0, bytes_of(piece.bytes), piece.bytes.size()));
  return true;
}

bool zstd_piece(Piece& piece) {
  const std::unique_ptr<::ZSTD_CCtx, std::size_t (*)(::ZSTD_CCtx*)> context(::ZSTD_createCCtx(),
                                                                            ::ZSTD_freeCCtx);
  if (!context) {
    return false;
  }
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, k_zstd_level);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  piece.packed.resize(::ZSTD_compressBound(piece.bytes.size()));
  const auto size = ::ZSTD_compress2(context.get(), piece.packed.data(), piece.packed.size(),
                                     piece.bytes.data(), piece.bytes.size());
  if (::ZSTD_isError(size) != 0U) {
    return false;
  }
  piece.packed.resize(size);
  return true;
}

/// Runs the work on each piece in the pool and waits for all of it.
void for_each(std::vector<Piece>& pieces, ThreadPool& pool, bool (*work)(Piece&)) {
  std::mutex mutex;
  std::condition_variable done;
  std::size_t left = pieces.size();
  for (auto& piece : pieces) {
    auto* one = &piece;
    pool.submit([&, one] {
      one->failed = !work(*one);
      const std::lock_guard lock(mutex);
      if (--left == 0) {
        done.notify_one();
      }
    });
  }
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return left == 0; });
}

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
  }
  return bytes;
}

} // namespace

Result<Compression> parse_compression(std::string_view name) {
  if (name == "none" || name == "gzip" || name == "zstd") {
    return name == "none"   ? Compression::none
           : name == "gzip" ? Compression::gzip
                            : Compression::zstd;
  }
  return fail(ErrorCode::usage, "`{}` is no compression: use gzip, zstd or none", name);
}

Result<PackedFile> PackedFile::create(const fs::path& path, Compression compression,
                                      ThreadPool& pool) {
  CUKIT_TRY_ASSIGN(auto file, open_file(path, O_WRONLY | O_CREAT | O_EXCL));
  PackedFile result(std::move(file), compression, pool);
  if (compression == Compression::gzip) { // no name, no time, and no system that made it
    CUKIT_TRY(result.put(std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10)));
  }
  return result;
}

Result<void> PackedFile::put(std::string_view bytes) {
  digest_.update(bytes);
  size_ += bytes.size();
  return write_all(file_.get(), bytes);
}

Result<void> PackedFile::write(std::string_view bytes) {
  content_.update(bytes);
  unpacked_ += bytes.size();
  if (compression_ == Compression::none) {
    return put(bytes);
  }
  const std::size_t most = k_piece * std::max(2U, 2 * pool_->size());
  while (!bytes.empty()) {
    const auto count = std::min(bytes.size(), most + seen_ - waiting_.size());
    waiting_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    if (waiting_.size() - seen_ == most) {
      CUKIT_TRY(pack(false));
    }
  }
  return {};
}

Result<void> PackedFile::pack(bool is_end) {
  const std::string_view all = waiting_;
  std::vector<Piece> pieces;
  // the last piece is one of its own, empty where nothing is left
  std::size_t at = seen_;
  for (; all.size() - at >= k_piece; at += k_piece) {
    const auto back = std::min(at, k_look_back);
    pieces.push_back({.bytes = all.substr(at, k_piece), .before = all.substr(at - back, back)});
  }
  if (is_end && (compression_ == Compression::gzip || at < all.size() || unpacked_ == 0)) {
    const auto back = std::min(at, k_look_back);
    pieces.push_back(
        {.bytes = all.substr(at), .before = all.substr(at - back, back), .is_last = true});
    at = all.size();
  }
  for_each(pieces, *pool_, compression_ == Compression::gzip ? deflate_piece : zstd_piece);
  for (const auto& piece : pieces) {
    if (piece.failed) {
      return fail(ErrorCode::host, "{} could not pack {} bytes: is the memory exhausted?",
                  compression_ == Compression::gzip ? "zlib" : "zstd", piece.bytes.size());
    }
    CUKIT_TRY(put(piece.packed));
    checksum_ = static_cast<std::uint32_t>(
        ::crc32_combine(checksum_, piece.checksum, static_cast<z_off_t>(piece.bytes.size())));
  }
  const auto back = std::min(at, k_look_back);
  waiting_.erase(0, at - back);
  seen_ = back;
  return {};
}

Result<Packed> PackedFile::finish() {
  if (compression_ != Compression::none) {
    CUKIT_TRY(pack(true));
  }
  if (compression_ == Compression::gzip) {
    CUKIT_TRY(put(little_endian(checksum_) + little_endian(static_cast<std::uint32_t>(unpacked_))));
  }
  CUKIT_TRY(file_.close());
  return Packed{.digest = digest_.finish(), .size = size_, .content = content_.finish()};
}

} // namespace cukit::image
