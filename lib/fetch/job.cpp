#include "fetch/job.hpp"

#include "base/kept_file.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "fetch/blob.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::fetch {

namespace {

// An attempt that got so much further was not in vain: a long file over a bad line may break more
// often than a page may.
constexpr std::uint64_t k_worthwhile_bytes = 4U << 20U;

} // namespace

Job::Job(const Wanted& wanted, const Options& options, ThreadPool& writers, Progress& progress,
         std::stop_token stop)
    : wanted_(wanted), options_(options), progress_(progress), stop_(std::move(stop)),
      part_(options.folder, wanted.sha256, wanted.size),
      behind_(writers,
              [this](std::span<const std::uint8_t> bytes) { return part_.append(bytes); }) {}

Job::~Job() {
  if (work_) {
    progress_.end(*work_);
  }
}

std::string Job::shown_location() const {
  return is_path() ? printable(location()) : redact_url(location());
}

void Job::show(std::uint64_t done) {
  if (!work_) {
    work_ = progress_.begin(wanted_.file, wanted_.size);
  }
  progress_.reset(*work_, done);
}

Hashed Job::shown_hashing() {
  show(0);
  return [this](std::uint64_t bytes) { progress_.advance(*work_, bytes); };
}

Result<bool> Job::lock() {
  CUKIT_TRY_ASSIGN(lock_, FileLock::try_acquire(part_.lock_path(), FileLock::Mode::exclusive,
                                                options_.without_locks));
  return lock_.has_value();
}

Result<void> Job::wait_for_lock() {
  const auto tell = [this](int holder) {
    progress_.say(
        holder > 0 ? fmt::format("{}: process {} is downloading it, waiting", wanted_.file, holder)
                   : fmt::format("{}: another process is downloading it, waiting", wanted_.file));
  };
  CUKIT_TRY_ASSIGN(lock_, FileLock::acquire(part_.lock_path(), FileLock::Mode::exclusive, stop_,
                                            tell, options_.without_locks));
  return {};
}

std::optional<Result<Blob>> Job::settle() {
  bool found = false;
  if (auto cached = from_cache(found); found || !cached) {
    return cached;
  }
  return from_paths();
}

Result<Blob> Job::from_cache(bool& found) {
  const auto& path = part_.finished_path();
  CUKIT_TRY(make_room(path));
  if (path_exists(path)) {
    CUKIT_TRY_ASSIGN(const Fd fd, open_kept(path, O_RDONLY));
    CUKIT_TRY_ASSIGN(const Sha256 digest, hash_file(fd, wanted_.size + 1, shown_hashing(), stop_));
    found = digest == wanted_.sha256;
    if (found) {
      return held_blob(path, 0);
    }
    progress_.say(
        fmt::format("{}: the copy in the cache is damaged and is fetched again", wanted_.file));
    if (::unlink(path.c_str()) != 0) {
      return fail_errno(errno, "cannot remove {}", path.string());
    }
  }
  if (!path_exists(part_.part_path())) {
    return Blob();
  }
  CUKIT_TRY(part_.open(shown_hashing(), stop_));
  is_resumed_ = part_.size() > 0;
  if (part_.size() == wanted_.size) { // stopped just before its end
    if (part_.digest() == wanted_.sha256) {
      found = true;
      return finish();
    }
    CUKIT_TRY(part_.restart());
  }
  return Blob();
}

std::optional<Result<Blob>> Job::from_paths() {
  for (; location_ < wanted_.locations.size() && is_path(); ++location_) {
    auto blob = from_path(location());
    if (blob || blob.error().code == ErrorCode::interrupted) {
      return blob;
    }
    errors_.push_back(std::move(blob).error());
  }
  if (location_ == wanted_.locations.size()) {
    return tl::unexpected<Error>(all_failed());
  }
  return std::nullopt;
}

Result<Blob> Job::from_path(const fs::path& path) {
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) {
    fd.error().code = ErrorCode::source; // a mirror's fault, not this machine's
    return tl::unexpected<Error>(std::move(fd).error());
  }
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) {
    return fail_errno(errno, "cannot look at {}", path.string());
  }
  if (static_cast<std::uint64_t>(info.st_size) != wanted_.size) {
    return tl::unexpected<Error>(wrong_size(static_cast<std::uint64_t>(info.st_size)));
  }
  CUKIT_TRY_ASSIGN(const Sha256 digest, hash_file(*fd, wanted_.size, shown_hashing(), stop_));
  if (digest != wanted_.sha256) {
    return tl::unexpected<Error>(wrong_digest(digest));
  }
  return Blob{path, false};
}

http::Download Job::download() {
  http::Download download{.url = location(), .sink = this, .max_bytes = wanted_.size};
  const auto& origin = part_.origin();
  if (part_.is_open() && part_.size() > 0 && part_.size() < wanted_.size && origin &&
      origin->location == shown_location()) {
    download.resume_at = part_.size();
    download.etag = origin->etag;
  }
  download.priority = wanted_.size - std::min(wanted_.size, download.resume_at);
  return download;
}

Result<void> Job::start(std::uint64_t offset, std::optional<std::uint64_t> total,
                        std::string_view etag) {
  if (!part_.is_open()) {
    CUKIT_TRY(part_.open({}, stop_));
  }
  // Less than expected may be a server that counts wrong; then the rest is asked for as after a
  // break.
  if (total && (*total > wanted_.size || (offset > 0 && *total != wanted_.size))) {
    is_misfit_ = true;
    return tl::unexpected<Error>(wrong_size(*total));
  }
  if (offset == 0) {
    CUKIT_TRY(part_.restart());
  }
  CUKIT_ENSURE(offset == part_.size(), "a download goes on somewhere else");
  is_resumed_ = offset > 0;
  log_detail("fetch", "{} from byte {} of {}, {}", wanted_.file, offset, wanted_.size,
             shown_location());
  if (offset == 0) { // else the answer fitted what was known already
    // A server without tags is common behind caches. Going on there is safe all the same: the size
    // has to fit, and bytes that do not belong together are found by the digest, which costs one
    // more download. A weak tag says that the bytes may differ.
    const Origin origin{shown_location(), std::string(etag), wanted_.size};
    CUKIT_TRY(part_.come_from(etag.empty() || http::is_strong_etag(etag) ? &origin : nullptr));
  }
  show(offset);
  return part_.check_room();
}

Result<void> Job::write(std::span<const std::uint8_t> bytes) {
  CUKIT_TRY(behind_.push(bytes));
  downloaded_ += bytes.size();
  progress_.advance(*work_, bytes.size());
  return {};
}

std::optional<http::Client::Again> Job::after(http::Ended ended, double jitter) {
  if (auto written = behind_.drain(); !written) { // the disk's error outweighs the line's
    return end(tl::unexpected<Error>(std::move(written).error()));
  }
  const bool is_short = ended.result && part_.size() < wanted_.size;
  if (is_short) { // a connection that ends without saying how much there is looks like success
    ended.result = fail(ErrorCode::source, "{} ended after {} of {} bytes", wanted_.file,
                        part_.size(), wanted_.size);
    ended.result.error().where = shown_location();
    ended.attempt.transport_failed = true;
  }
  return ended.result ? after_everything_came() : after_failure(std::move(ended), jitter);
}

std::optional<http::Client::Again> Job::after_everything_came() {
  const Sha256 digest = part_.digest();
  if (digest == wanted_.sha256) {
    return end(finish());
  }
  const bool was_resumed = is_resumed_;
  if (auto emptied = part_.restart(); !emptied) {
    return end(tl::unexpected<Error>(std::move(emptied).error()));
  }
  Error error = wrong_digest(digest);
  // The earlier bytes may be those of another state of the file, or torn by a crash.
  return was_resumed && !began_anew_ ? from_the_start(error) : next_location(std::move(error));
}

Result<Blob> Job::finish() {
  CUKIT_TRY(part_.finish());
  return held_blob(part_.finished_path(), downloaded_);
}

std::optional<http::Client::Again> Job::after_failure(http::Ended ended, double jitter) {
  Error error = std::move(ended.result).error();
  if (error.code == ErrorCode::interrupted || error.code == ErrorCode::host) {
    return end(tl::unexpected<Error>(std::move(error)));
  }
  const bool is_misfit = std::exchange(is_misfit_, false);
  if (ended.range_refused || is_misfit || error.code == ErrorCode::integrity) {
    const std::uint64_t there = part_.is_open() ? part_.size() : 0;
    if (part_.is_open()) {
      if (auto emptied = part_.restart(); !emptied) {
        return end(tl::unexpected<Error>(std::move(emptied).error()));
      }
    }
    if ((ended.range_refused || is_misfit) && !began_anew_) {
      return from_the_start(error);
    }
    // Asked twice for what comes after its end: the file there is shorter, and no accident was.
    return next_location(ended.range_refused && there > 0 ? wrong_size(there) : std::move(error));
  }
  if (part_.size() >= furthest_ + k_worthwhile_bytes) {
    attempts_ = 0;
    furthest_ = part_.size();
  }
  ended.attempt.number = ++attempts_;
  const auto delay = http::retry_delay(ended.attempt, options_.http, jitter);
  if (!delay) {
    return next_location(std::move(error));
  }
  progress_.say(fmt::format("{}: {}; trying again in {:.1f} s", wanted_.file, error.message,
                            std::chrono::duration<double>(*delay).count()));
  return again(*delay);
}

std::optional<http::Client::Again> Job::from_the_start(const Error& why) {
  began_anew_ = true;
  progress_.say(
      fmt::format("{}: {}; beginning again from its first byte", wanted_.file, why.message));
  return again(std::chrono::milliseconds(0));
}

std::optional<http::Client::Again> Job::next_location(Error error) {
  if (error.where.empty()) {
    error.where = shown_location();
  }
  errors_.push_back(std::move(error));
  ++location_;
  attempts_ = 0;
  furthest_ = 0;
  began_anew_ = false;
  if (auto settled = from_paths()) {
    return end(std::move(*settled));
  }
  progress_.say(
      fmt::format("{}: {}; trying {}", wanted_.file, errors_.back().message, shown_location()));
  return again(std::chrono::milliseconds(0));
}

std::optional<http::Client::Again> Job::again(std::chrono::milliseconds delay) {
  return Again{download(), delay};
}

std::optional<http::Client::Again> Job::end(Result<Blob> result) {
  result_ = std::move(result);
  return std::nullopt;
}

Result<Blob> Job::take_result() {
  CUKIT_ENSURE(result_, "a download that has not ended has no result");
  return std::move(*result_);
}

Error Job::wrong_size(std::uint64_t there) const {
  Error error{.code = ErrorCode::integrity, .message = {}, .where = shown_location()};
  error.message =
      fmt::format("{} has {} bytes there, but {} are locked", wanted_.file, there, wanted_.size);
  error.hint = "repair the copy there or name another source; where the lock was edited, make it "
               "again with `cukit lock`";
  return error;
}

Error Job::wrong_digest(const Sha256& got) const {
  Error error{.code = ErrorCode::integrity, .message = {}, .where = shown_location()};
  error.message = fmt::format("{} is not the file that was locked: its sha256 is {}, expected {}",
                              wanted_.file, got.hex(), wanted_.sha256.hex());
  error.hint = "the copy there was changed or damaged: repair it, or name another source; other "
               "bytes are never taken";
  return error;
}

Error Job::all_failed() {
  if (errors_.empty()) {
    Error error{.code = ErrorCode::source,
                .message = fmt::format("no source has {}", wanted_.file)};
    error.hint = "name an index that has it with --index-url";
    return error;
  }
  if (errors_.size() == 1) {
    return std::move(errors_.front());
  }
  // Wrong bytes are the graver news than a server that was down.
  auto worst = std::find_if(errors_.begin(), errors_.end(),
                            [](const Error& error) { return error.code == ErrorCode::integrity; });
  worst = worst == errors_.end() ? errors_.end() - 1 : worst;
  Error result{.code = worst->code, .message = {}, .where = worst->where};
  result.message = fmt::format("none of {} places gave {}", errors_.size(), wanted_.file);
  for (const auto& error : errors_) {
    result.causes.push_back(error.message.find(error.where) == std::string::npos
                                ? fmt::format("{} ({})", error.message, error.where)
                                : error.message);
  }
  result.hint = worst->hint;
  return result;
}

} // namespace cukit::fetch
