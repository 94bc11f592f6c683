#include "http/page.hpp"

#include "base/strings.hpp"
#include "http/failure.hpp"

namespace cukit::http {

namespace {

constexpr int k_whole = 200;
constexpr int k_part = 206;
constexpr int k_range_not_satisfiable = 416;

/// Whether the caller asked for something that HTML cannot be.
bool refuses_html(const std::vector<std::string>& headers) {
  for (const auto& line : headers) {
    const std::string text = lower(line);
    if (text.starts_with("accept:")) {
      return text.find("html") == std::string::npos && text.find("*/*") == std::string::npos;
    }
  }
  return false;
}

} // namespace

Call PageReceiver::call() {
  room_ += body_.size();
  body_.clear();
  range_refused_ = false;
  Call call{request_.url, request_.headers, !request_.range.has_value(), this, false, true};
  if (request_.range) {
    call.headers.push_back(
        fmt::format("Range: bytes={}-{}", request_.range->first, request_.range->second));
  }
  return call;
}

Result<void> PageReceiver::start(const Head& head) {
  if (refuses_html(request_.headers) && head.is_html()) {
    return tl::unexpected<Error>(portal_error(request_.url));
  }
  if (request_.range) {
    return check_range(head);
  }
  if (head.status == k_part) {
    return fail(ErrorCode::source, "a part of a page was sent where all of it was asked for");
  }
  return {};
}

Result<void> PageReceiver::check_range(const Head& head) {
  const auto& range = head.content_range;
  if (head.status != k_part || !range || range->first != request_.range->first ||
      range->last != request_.range->second || head.is_encoded()) {
    range_refused_ = true;
    return fail(ErrorCode::source, "another range than bytes {}-{} was sent from {}",
                request_.range->first, request_.range->second, redact_url(request_.url));
  }
  return {};
}

Result<void> PageReceiver::write(std::span<const std::uint8_t> bytes) {
  // Counted here, after decoding: what a header says about the size binds nobody.
  if (bytes.size() > request_.max_bytes - body_.size()) {
    return fail(ErrorCode::source, "more than the {} bytes that are accepted were sent from {}",
                request_.max_bytes, redact_url(request_.url));
  }
  if (bytes.size() > room_) {
    return fail(ErrorCode::source, "all pages together are larger than what is accepted, at {}",
                redact_url(request_.url));
  }
  room_ -= bytes.size();
  body_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

bool PageReceiver::is_complete() const {
  return !request_.range || body_.size() == request_.range->second - request_.range->first + 1;
}

Response PageReceiver::take(const Outcome& outcome) {
  Response response;
  response.status = outcome.head.status;
  response.range_refused = range_refused_;
  response.body = std::move(body_);
  response.final_url = outcome.url;
  response.content_type = outcome.head.content_type;
  response.etag = outcome.head.etag;
  response.last_modified = outcome.head.last_modified;
  response.total_size =
      outcome.head.content_range ? outcome.head.content_range->total : std::nullopt;
  return response;
}

Call FileReceiver::call() {
  Call call{download_.url, {}, false, this, is_retry_, false};
  if (download_.resume_at > 0) {
    // By hand: CURLOPT_RESUME_FROM makes an error of the 200 with which a server answers a stale
    // If-Range.
    call.headers.push_back(fmt::format("Range: bytes={}-", download_.resume_at));
    if (!download_.etag.empty()) {
      call.headers.push_back("If-Range: " + download_.etag);
    }
  }
  return call;
}

Result<void> FileReceiver::refuse_range(std::string why) {
  range_refused_ = true;
  return fail(ErrorCode::source, "{} from {}", why, redact_url(download_.url));
}

Result<void> FileReceiver::start(const Head& head) {
  if (head.is_html()) {
    return tl::unexpected<Error>(portal_error(download_.url));
  }
  if (head.status != k_whole && head.status != k_part) {
    return fail(ErrorCode::source, "status {} from {}", head.status, redact_url(download_.url));
  }
  position_ = 0;
  if (head.status == k_part) {
    if (download_.resume_at == 0 || !head.content_range ||
        head.content_range->first != download_.resume_at ||
        (head.content_range->total && head.content_range->last + 1 != *head.content_range->total)) {
      return refuse_range("another part than was asked for");
    }
    if ((!head.etag.empty() && head.etag != download_.etag) ||
        (download_.etag.empty() && !head.content_range->total)) {
      return refuse_range("a part of a changed file");
    }
    position_ = download_.resume_at;
  }
  total_ = head.total();
  return download_.sink->start(position_, total_, head.etag);
}

Result<void> FileReceiver::write(std::span<const std::uint8_t> bytes) {
  if (position_ > download_.max_bytes || bytes.size() > download_.max_bytes - position_) {
    return fail(ErrorCode::integrity, "more than the expected {} bytes are sent from {}",
                download_.max_bytes, redact_url(download_.url));
  }
  position_ += bytes.size();
  return download_.sink->write(bytes);
}

Ended FileReceiver::ended(Outcome outcome) const {
  Ended ended{std::move(outcome.result), outcome.attempt, range_refused_};
  ended.range_refused = ended.range_refused ||
                        (download_.resume_at > 0 && outcome.head.status == k_range_not_satisfiable);
  if (ended.result && total_ && position_ != *total_) {
    ended.result = tl::unexpected<Error>(transport_error(CURLE_PARTIAL_FILE, "", outcome.url));
    ended.attempt.transport_failed = true;
  }
  return ended;
}

} // namespace cukit::http
