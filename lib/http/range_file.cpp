#include "base/strings.hpp"
#include "http/client.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace cukit::http {

namespace {

// The directory of a wheel and a header of a maths library fit one block each; a smaller one costs
// more round trips than it saves.
constexpr std::uint64_t k_block = 64U << 10U;
// A big member is read piece after piece: the further a reader goes on, the more is fetched ahead,
// up to this.
constexpr std::uint64_t k_longest_read = 1U << 20U;
// Headers of a wheel are a few MB; whoever reads more must not fill the memory with it.
constexpr std::size_t k_kept_blocks = 1024;

class RangeFile final : public RandomAccess {
public:
  RangeFile(Client& client, std::string url, std::stop_token stop)
      : client_(client), url_(std::move(url)), stop_(std::move(stop)) {}

  std::uint64_t size() const override { return size_; }
  std::string name() const override { return redact_url(url_); }
  bool failed() const {
    const std::lock_guard guard(mutex_);
    return failed_;
  }
  std::uint64_t received() const {
    const std::lock_guard guard(mutex_);
    return received_;
  }

  void assume_size(std::uint64_t size) { size_ = size; }
  Result<void> ask_size();
  Result<void> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const override;

private:
  Result<Response> ask(std::uint64_t first, std::uint64_t last) const;
  Result<void> check(const Response& response) const;
  Result<void> fetch_missing(std::uint64_t first_block, std::uint64_t last_block) const;
  std::uint64_t with_read_ahead(std::uint64_t first_block, std::uint64_t last_block) const;

  Client& client_;
  std::string url_;
  std::stop_token stop_;
  std::uint64_t size_ = 0;
  mutable std::mutex mutex_;                 ///< guards all below
  mutable std::optional<std::string> state_; ///< ETag and Last-Modified of the first answer
  mutable bool failed_ = false;
  mutable std::uint64_t received_ = 0;
  mutable std::map<std::uint64_t, std::string> blocks_;
  mutable std::uint64_t next_block_ = UINT64_MAX; ///< where a reader that goes on would ask next
  mutable std::uint64_t ahead_ = 1;
};

Result<void> RangeFile::ask_size() {
  const std::lock_guard guard(mutex_);
  CUKIT_TRY_ASSIGN(const Response response, ask(0, 0));
  if (!response.total_size) {
    return fail(ErrorCode::source, "the server does not tell the size of {}", name());
  }
  size_ = *response.total_size;
  return check(response);
}

Result<Response> RangeFile::ask(std::uint64_t first, std::uint64_t last) const {
  Request request{.url = url_, .max_bytes = last - first + 1, .range = std::pair(first, last)};
  CUKIT_TRY_ASSIGN(Response response, client_.get(request, stop_));
  if (response.status == 404) {
    auto error = Error{.code = ErrorCode::source,
                       .message = fmt::format("status 404 from {}", name()),
                       .where = name()};
    error.hint = "the file is gone from there; name another source with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }
  if (response.range_refused) {
    failed_ = true;
    auto error = Error{.code = ErrorCode::source, .message = {}, .where = name()};
    error.message =
        response.status == 200
            ? fmt::format("the server of {} does not serve byte ranges", name())
            : fmt::format("another range than bytes {}-{} was sent from {}", first, last, name());
    error.hint = "name an index or mirror that does, for example with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }
  received_ += response.body.size();
  return response;
}

Result<void> RangeFile::check(const Response& response) const {
  if (response.total_size && *response.total_size != size_) {
    return fail(ErrorCode::source, "{} has {} bytes, not the expected {}", name(),
                *response.total_size, size_);
  }
  const std::string state = response.etag + "\n" + response.last_modified;
  if (!state_) {
    state_ = state;
  }
  if (*state_ != state) {
    failed_ = true;
    return fail(ErrorCode::integrity, "{} changed while it was read", name());
  }
  return {};
}

std::uint64_t RangeFile::with_read_ahead(std::uint64_t first_block,
                                         std::uint64_t last_block) const {
  ahead_ = first_block == next_block_ ? std::min(ahead_ * 2, k_longest_read / k_block) : 1;
  const std::uint64_t wanted = std::max(last_block, first_block + ahead_ - 1);
  std::uint64_t last = last_block;
  while (last < wanted && last + 1 <= (size_ - 1) / k_block && !blocks_.contains(last + 1)) {
    ++last;
  }
  next_block_ = last + 1;
  return last;
}

Result<void> RangeFile::fetch_missing(std::uint64_t first_block, std::uint64_t last_block) const {
  const std::uint64_t until = with_read_ahead(first_block, last_block);
  const std::uint64_t first = first_block * k_block;
  const std::uint64_t last = std::min(size_, (until + 1) * k_block) - 1;
  CUKIT_TRY_ASSIGN(const Response response, ask(first, last));
  CUKIT_TRY(check(response));
  for (std::uint64_t block = first_block; block <= until; ++block) {
    blocks_[block] = response.body.substr((block - first_block) * k_block, k_block);
  }
  return {};
}

Result<void> RangeFile::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    return fail(ErrorCode::integrity, "{} ends at byte {}, but {} bytes from {} are needed", name(),
                size_, out.size(), offset);
  }
  const std::lock_guard guard(mutex_);
  if (blocks_.size() > k_kept_blocks) {
    blocks_.clear();
  }
  while (!out.empty()) {
    const std::uint64_t block = offset / k_block;
    if (!blocks_.contains(block)) {
      std::uint64_t last = block;
      const std::uint64_t end =
          std::min((offset + out.size() - 1) / k_block, block + k_longest_read / k_block - 1);
      while (last < end && !blocks_.contains(last + 1)) {
        ++last;
      }
      CUKIT_TRY(fetch_missing(block, last));
    }
    const std::string& bytes = blocks_.at(block);
    const std::uint64_t within = offset - block * k_block;
    const std::size_t count = std::min<std::size_t>(out.size(), bytes.size() - within);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(within), count, out.begin());
    out = out.subspan(count);
    offset += count;
  }
  return {};
}

} // namespace

Result<std::unique_ptr<RandomAccess>> open_range_file(Client& client, const std::string& url,
                                                      std::optional<std::uint64_t> known_size,
                                                      const std::stop_token& stop) {
  auto file = std::make_unique<RangeFile>(client, url, stop);
  if (known_size) {
    file->assume_size(*known_size);
  } else {
    CUKIT_TRY(file->ask_size());
  }
  return file;
}

bool ranges_failed(const RandomAccess& range_file) {
  const auto* file = dynamic_cast<const RangeFile*>(&range_file);
  return file != nullptr && file->failed();
}

std::uint64_t range_bytes_received(const RandomAccess& range_file) {
  const auto* file = dynamic_cast<const RangeFile*>(&range_file);
  return file == nullptr ? 0 : file->received();
}

} // namespace cukit::http
