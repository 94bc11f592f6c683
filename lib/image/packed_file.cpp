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
constexpr std::size_t k_pieces_ahead = 4;       ///< for each thread of the pool
constexpr int k_gzip_level = 6;
constexpr int k_zstd_level = 9;

bool deflate_piece(std::string_view bytes, std::string_view before, bool is_last,
                   std::string& packed) {
  ::z_stream stream = {};
  if (::deflateInit2(&stream, k_gzip_level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return false;
  }
  const std::unique_ptr<::z_stream, int (*)(::z_streamp)> owner(&stream, ::deflateEnd);
  const auto bytes_of = [](std::string_view text) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  };
  if (!before.empty() &&
      ::deflateSetDictionary(&stream, bytes_of(before), static_cast<uInt>(before.size())) != Z_OK) {
    return false;
  }
  // a block that is flushed ends with an empty one of its own
  packed.resize(::deflateBound(&stream, bytes.size()) + 16);
  stream.next_in = bytes_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = bytes_of(packed);
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = ::deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  if (code != (is_last ? Z_STREAM_END : Z_OK) || stream.avail_in != 0) {
    return false;
  }
  packed.resize(packed.size() - stream.avail_out);
  return true;
}

bool zstd_piece(std::string_view bytes, std::string& packed) {
  const std::unique_ptr<::ZSTD_CCtx, std::size_t (*)(::ZSTD_CCtx*)> context(::ZSTD_createCCtx(),
                                                                            ::ZSTD_freeCCtx);
  if (!context) {
    return false;
  }
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, k_zstd_level);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  packed.resize(::ZSTD_compressBound(bytes.size()));
  const auto size =
      ::ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  if (::ZSTD_isError(size) != 0U) {
    return false;
  }
  packed.resize(size);
  return true;
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

struct PackedFile::Done {
  std::mutex mutex;
  std::condition_variable changed;
};

struct PackedFile::Piece {
  std::string text; ///< what stands in front of it, then its own
  std::size_t seen = 0;
  bool is_last = false;
  std::string packed = {};
  std::uint32_t checksum = 0;
  bool failed = false;
  bool done = false; ///< guarded by Done's mutex

  void pack(Compression compression) {
    const auto bytes = std::string_view(text).substr(seen);
    failed = compression == Compression::gzip
                 ? !deflate_piece(bytes, std::string_view(text).substr(0, seen), is_last, packed)
                 : !zstd_piece(bytes, packed);
    checksum = static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  }
};

PackedFile::PackedFile(Fd file, Compression compression, ThreadPool& pool)
    : file_(std::move(file)), compression_(compression), pool_(&pool),
      done_(std::make_shared<Done>()) {}

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
  while (!bytes.empty()) {
    const auto count = std::min(bytes.size(), k_piece + seen_ - waiting_.size());
    waiting_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    if (waiting_.size() - seen_ == k_piece) {
      submit(false);
      CUKIT_TRY(settle(k_pieces_ahead * pool_->size()));
    }
  }
  return {};
}

void PackedFile::submit(bool is_last) {
  const auto piece = std::make_shared<Piece>();
  const auto kept = compression_ == Compression::gzip ? std::min(waiting_.size(), k_look_back) : 0;
  std::string next;
  next.reserve(k_look_back + k_piece);
  next.append(waiting_, waiting_.size() - kept);
  piece->text = std::move(waiting_);
  piece->seen = seen_;
  piece->is_last = is_last;
  waiting_ = std::move(next);
  seen_ = waiting_.size();
  pending_.push_back(piece);
  pool_->submit([piece, done = done_, compression = compression_] {
    piece->pack(compression);
    const std::lock_guard lock(done->mutex);
    piece->done = true;
    done->changed.notify_one();
  });
}

Result<void> PackedFile::settle(std::size_t most) {
  while (pending_.size() > most) {
    const auto piece = pending_.front();
    {
      std::unique_lock lock(done_->mutex);
      done_->changed.wait(lock, [&] { return piece->done; });
    }
    pending_.pop_front();
    const auto size = piece->text.size() - piece->seen;
    if (piece->failed) {
      return fail(ErrorCode::host, "{} could not pack {} bytes: is the memory exhausted?",
                  compression_ == Compression::gzip ? "zlib" : "zstd", size);
    }
    CUKIT_TRY(put(piece->packed));
    checksum_ = static_cast<std::uint32_t>(
        ::crc32_combine(checksum_, piece->checksum, static_cast<z_off_t>(size)));
  }
  return {};
}

Result<Packed> PackedFile::finish() {
  // the last piece of gzip is one of its own, empty where nothing is left
  const bool has_rest = waiting_.size() > seen_ || unpacked_ == 0;
  if (compression_ == Compression::gzip || (compression_ == Compression::zstd && has_rest)) {
    submit(true);
  }
  CUKIT_TRY(settle(0));
  if (compression_ == Compression::gzip) {
    CUKIT_TRY(put(little_endian(checksum_) + little_endian(static_cast<std::uint32_t>(unpacked_))));
  }
  CUKIT_TRY(file_.close());
  return Packed{.digest = digest_.finish(), .size = size_, .content = content_.finish()};
}

} // namespace cukit::image
