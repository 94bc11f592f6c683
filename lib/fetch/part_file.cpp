#include "fetch/part_file.hpp"

#include "base/kept_file.hpp"
#include "base/stale.hpp"
#include "base/strings.hpp"
#include "text/json.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

namespace cukit::fetch {

namespace {

constexpr std::uint64_t k_side_bytes = 64U << 10U; // a URL and an entity tag
// Large enough that a file lies in few pieces.
constexpr std::uint64_t k_reserved_ahead = 32U << 20U;

Result<std::size_t> read_piece(const Fd& file, std::span<std::uint8_t> out, std::uint64_t offset) {
  while (true) {
    const ssize_t count = ::pread(file.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (count >= 0) {
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) {
      return fail_errno(errno, "cannot read a file");
    }
  }
}

Result<void> remove_file(const fs::path& path) {
  if (look_twice([&] { return ::unlink(path.c_str()); }) == 0 || errno == ENOENT) {
    return {};
  }
  const int number = errno;
  return is_kept_folder(path) ? remove_tree(path)
                              : fail_errno(number, "cannot remove {}", path.string());
}

/// Feeds the first `size` bytes; returns how many there were.
Result<std::uint64_t> feed(Sha256Stream& stream, const Fd& file, std::uint64_t size,
                           const Hashed& hashed, const std::stop_token& stop) {
  std::vector<std::uint8_t> buffer(256U << 10U);
  std::uint64_t done = 0;
  while (done < size) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while a file was checked");
    }
    const auto room = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - done)));
    CUKIT_TRY_ASSIGN(const std::size_t count, read_piece(file, room, done));
    if (count == 0) {
      break;
    }
    stream.update(std::span<const std::uint8_t>(room.first(count)));
    done += count;
    if (hashed) {
      hashed(count);
    }
  }
  return done;
}

} // namespace

Result<void> make_room(const fs::path& path) {
  struct stat info {};
  const bool is_ours = look_twice([&] { return ::lstat(path.c_str(), &info); }) != 0 ||
                       (S_ISREG(info.st_mode) && info.st_nlink == 1);
  return is_ours ? Result<void>() : remove_file(path);
}

Result<Sha256> hash_file(const Fd& file, std::uint64_t size, const Hashed& hashed,
                         const std::stop_token& stop) {
  Sha256Stream stream;
  CUKIT_TRY(feed(stream, file, size, hashed, stop));
  return stream.finish();
}

PartFile::~PartFile() {
  give_back_room();
}

PartFile::PartFile(fs::path folder, const Sha256& sha256, std::uint64_t size)
    : folder_(std::move(folder)), finished_(folder_ / sha256.hex()), wanted_size_(size) {}

fs::path PartFile::with_suffix(const char* suffix) const {
  return fs::path(finished_.string() + suffix);
}

Result<void> PartFile::open(const Hashed& hashed, const std::stop_token& stop) {
  CUKIT_TRY(make_room(part_path()));
  CUKIT_TRY_ASSIGN(Fd fd, open_kept(part_path(), O_RDWR | O_CREAT | O_APPEND, 0644));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return fail_errno(errno, "cannot look at {}", part_path().string());
  }
  hash_ = Sha256Stream();
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > wanted_size_) {
    fd_ = std::move(fd);
    return restart();
  }
  CUKIT_TRY_ASSIGN(have_, feed(hash_, fd, size, hashed, stop));
  origin_ = read_origin();
  fd_ = std::move(fd);
  return {};
}

std::optional<Origin> PartFile::read_origin() const {
  // A side file that is missing, torn or somebody else's only means that the download begins at the
  // start.
  const auto bytes = read_kept(side_path(), k_side_bytes);
  const auto json =
      bytes ? text::Json::parse(*bytes, side_path().string()) : fail(ErrorCode::host, "none");
  if (!json) {
    return std::nullopt;
  }
  const auto* etag = json->find("etag");
  const auto* size = json->find("size");
  if (etag == nullptr || !etag->is(text::Json::Kind::string) || size == nullptr ||
      !size->is(text::Json::Kind::integer) || size->integer() < 0) {
    return std::nullopt;
  }
  Origin origin{std::string(json->text_of("location")), etag->text(), 0};
  origin.size = static_cast<std::uint64_t>(size->integer());
  return origin.size == wanted_size_ ? std::optional(origin) : std::nullopt;
}

Result<void> PartFile::restart() {
  have_ = 0;
  reserved_ = 0;
  hash_ = Sha256Stream();
  if (::ftruncate(fd_.get(), 0) != 0) {
    return fail_errno(errno, "cannot empty {}", part_path().string());
  }
  return come_from(nullptr);
}

Result<void> PartFile::come_from(const Origin* origin) {
  const auto wanted = origin == nullptr ? std::nullopt : std::optional(*origin);
  if (wanted && wanted == origin_) {
    return {};
  }
  origin_ = wanted;
  if (!wanted) {
    return remove_file(side_path());
  }
  text::Json json = text::Json::object();
  json.set("location", wanted->location).set("etag", wanted->etag).set("size", wanted->size);
  // Not synced: a side file that a power cut tears or loses costs one download from the start, a
  // sync would cost every download.
  CUKIT_TRY(remove_file(side_path()));
  return create_file(side_path(), json.dump() + "\n");
}

Error PartFile::no_room(int number) const {
  Error error = errno_error(number, fmt::format("cannot write {}", part_path().string()));
  error.where = folder_.string();
  struct statvfs info {};
  if ((number == ENOSPC || number == EDQUOT) && ::statvfs(folder_.c_str(), &info) == 0) {
    const auto free = static_cast<unsigned long long>(info.f_bavail) * info.f_frsize;
    error.causes.insert(error.causes.begin(), std::move(error.message));
    error.message = fmt::format("no room in {}: {} more are needed, {} are free", folder_.string(),
                                human_bytes(wanted_size_ - have_), human_bytes(free));
  }
  return error;
}

Result<void> PartFile::check_room() const {
  struct statvfs info {};
  if (wanted_size_ > have_ && ::statvfs(folder_.c_str(), &info) == 0 && info.f_blocks > 0 &&
      wanted_size_ - have_ > static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize) {
    return tl::unexpected<Error>(no_room(ENOSPC));
  }
  return {}; // a file system that cannot tell says so when it is full
}

/// In steps, as the bytes come: what a page or a server says about a size costs no disk.
Result<void> PartFile::reserve_ahead(std::uint64_t size) {
  const std::uint64_t needed = have_ + size;
  if (needed <= reserved_) {
    return {};
  }
  const std::uint64_t until = std::min(wanted_size_, needed + k_reserved_ahead);
  const std::uint64_t from = std::max(have_, reserved_);
  if (until > from && ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                                  static_cast<off_t>(until - from)) != 0) {
    const int number = errno;
    if (number == ENOSPC || number == EDQUOT) {
      return tl::unexpected<Error>(no_room(number));
    }
  }
  reserved_ = std::max(until, needed); // a file system that cannot reserve is asked once a step
  return {};
}

void PartFile::give_back_room() {
  if (fd_.is_open() && reserved_ > have_) {
    // A failure leaves a step's length at most, and gc takes it with the part.
    static_cast<void>(::ftruncate(fd_.get(), static_cast<off_t>(have_)));
    reserved_ = have_;
  }
}

Result<void> PartFile::append(std::span<const std::uint8_t> bytes) {
  CUKIT_TRY(reserve_ahead(bytes.size()));
  std::span<const std::uint8_t> rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return tl::unexpected<Error>(no_room(errno));
    }
    const auto written = rest.first(static_cast<std::size_t>(count));
    hash_.update(written); // what is on disk and what is hashed stay the same also when the disk is
                           // full half-way
    have_ += written.size();
    rest = rest.subspan(written.size());
  }
  return {};
}

Sha256 PartFile::digest() {
  return hash_.finish();
}

Result<void> PartFile::finish() {
  give_back_room();
  CUKIT_TRY(fd_.close());
  CUKIT_TRY(rename_path(part_path(), finished_));
  have_ = 0;
  return come_from(nullptr);
}

} // namespace cukit::fetch
