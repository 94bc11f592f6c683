#include "http/exchange.hpp"

#include "base/strings.hpp"
#include "http/failure.hpp"
#include "http/url.hpp"

namespace cukit::http {

namespace {

// The text of an error page is read to keep the connection; a longer one is not worth that.
constexpr std::uint64_t k_dropped_bytes = 64U << 10U;

bool is_success(int status) {
  return status >= 200 && status <= 299;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string text_info(CURL* handle, CURLINFO what) {
  const char* text = nullptr;
  return libcurl().easy_getinfo(handle, what, &text) == CURLE_OK && text != nullptr ? text : "";
}

std::optional<std::chrono::seconds> retry_after(CURL* handle) {
  curl_off_t seconds = 0; // 0: none, or nothing that can be understood
  if (libcurl().easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds) != CURLE_OK || seconds <= 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(seconds);
}

/// Status with which a proxy refused a tunnel, or 0.
int refused_tunnel(CURL* handle) {
  long status = 0;
  if (libcurl().easy_getinfo(handle, CURLINFO_HTTP_CONNECTCODE, &status) != CURLE_OK ||
      status < 300) {
    return 0;
  }
  return static_cast<int>(status);
}

} // namespace

Outcome interrupted_outcome() {
  Outcome outcome;
  outcome.result = fail(ErrorCode::interrupted, "interrupted while data was transferred");
  return outcome;
}

Exchange::Exchange(const Session& session, Call call)
    : session_(session), call_(std::move(call)), easy_(session.make_easy()), url_(call_.url) {
  set(handle(), CURLOPT_ERRORBUFFER, detail_.data());
  set(handle(), CURLOPT_HEADERFUNCTION, &Exchange::on_header);
  set(handle(), CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(handle(), CURLOPT_WRITEFUNCTION, &Exchange::on_body);
  set(handle(), CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(handle(), CURLOPT_PRIVATE, static_cast<void*>(this));
  set(handle(), CURLOPT_FRESH_CONNECT, call_.on_a_fresh_connection ? 1L : 0L);
  if (call_.takes_gzip) {
    set(handle(), CURLOPT_ACCEPT_ENCODING, "gzip");
  }
}

std::optional<Outcome> Exchange::begin() {
  if (auto allowed = session_.check(url_); !allowed) {
    return end(std::move(allowed));
  }
  prepare_hop(true);
  return std::nullopt;
}

void Exchange::prepare_hop(bool keeps_headers) {
  if (!keeps_headers) {
    // A login that somebody put into a header is for the first server alone.
    std::erase_if(call_.headers, [](const std::string& line) {
      const std::string name = lower(line.substr(0, line.find(':')));
      return name == "authorization" || name == "cookie";
    });
  }
  HeaderList lines = make_headers(call_.headers);
  set(handle(), CURLOPT_HTTPHEADER, lines.get());
  headers_ = std::move(lines);
  session_.point_at(handle(), url_);
  head_ = Head{};
  in_body_ = false;
  dropped_ = 0;
  detail_[0] = '\0';
}

std::size_t Exchange::on_header(char* data, std::size_t unit, std::size_t count, void* self) {
  return static_cast<Exchange*>(self)->take_header({data, unit * count}) ? unit * count : 0;
}

std::size_t Exchange::on_body(char* data, std::size_t unit, std::size_t count, void* self) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(data), unit * count);
  return static_cast<Exchange*>(self)->take_body(bytes) ? bytes.size() : CURL_WRITEFUNC_ERROR;
}

bool Exchange::take_header(std::string_view line) {
  if (in_body_) {
    return true; // trailers of a chunked body
  }
  if (!trim(line).empty()) {
    head_.take_line(line);
    return true;
  }
  if (head_.status < 200) {
    return true;
  }
  in_body_ = true;
  if (is_success(head_.status)) {
    if (auto started = call_.receiver->start(head_); !started) {
      refusal_ = std::move(started).error();
      return false;
    }
  }
  return true;
}

bool Exchange::take_body(std::span<const std::uint8_t> bytes) {
  if (!is_success(head_.status)) {
    dropped_ += bytes.size();
    return dropped_ <= k_dropped_bytes;
  }
  if (auto written = call_.receiver->write(bytes); !written) {
    refusal_ = std::move(written).error();
    return false;
  }
  return true;
}

std::optional<Outcome> Exchange::end_of_hop(CURLcode code) {
  if (refusal_) {
    if (refusal_->where.empty()) {
      refusal_->where = redact_url(url_);
    }
    return end(tl::unexpected<Error>(std::move(*refusal_)));
  }
  // An error page that broke or was too long is still known by its status.
  const bool is_answered = in_body_ && !is_success(head_.status);
  if (code != CURLE_OK && !is_answered) {
    return failure(code);
  }
  if (is_success(head_.status)) {
    return end({});
  }
  if (is_redirect(head_.status)) {
    return follow();
  }
  const auto wait = retry_after(handle());
  Outcome outcome = end(tl::unexpected<Error>(status_error(head_.status, wait, url_)));
  outcome.attempt.status = head_.status;
  outcome.attempt.retry_after = wait;
  return outcome;
}

std::optional<Outcome> Exchange::follow() {
  const std::string location = text_info(handle(), CURLINFO_REDIRECT_URL);
  Error error{.code = ErrorCode::source, .message = {}, .where = redact_url(url_)};
  if (location.empty()) {
    error.message =
        fmt::format("status {} without an address from {}", head_.status, redact_url(url_));
    return end(tl::unexpected<Error>(std::move(error)));
  }
  if (++redirects_ > limits::k_redirects) {
    error.message =
        fmt::format("more than {} redirects from {}", limits::k_redirects, redact_url(call_.url));
    return end(tl::unexpected<Error>(std::move(error)));
  }
  const auto from = place_of(url_);
  const auto to = place_of(location);
  auto allowed = session_.check(location);
  if (allowed && from && to && from->scheme == "https" && to->scheme != "https") {
    allowed = fail(ErrorCode::source, "plain http is not taken after https");
  }
  if (!allowed) {
    error.message = fmt::format("refused to follow a redirect from {} to {}", redact_url(url_),
                                redact_url(location));
    error.causes.push_back(std::move(allowed.error().message));
    return end(tl::unexpected<Error>(std::move(error)));
  }
  url_ = with_login_of(url_, location);
  prepare_hop(from && to && *from == *to);
  return std::nullopt;
}

Outcome Exchange::failure(CURLcode code) {
  if (const int status = refused_tunnel(handle()); status != 0) {
    Outcome outcome = end(tl::unexpected<Error>(proxy_error(status, url_)));
    outcome.attempt.status = status;
    return outcome;
  }
  Outcome outcome = end(tl::unexpected<Error>(transport_error(code, detail_.data(), url_)));
  outcome.attempt.transport_failed = is_transient_code(code);
  return outcome;
}

Outcome Exchange::end(Result<void> result) {
  Outcome outcome;
  outcome.result = std::move(result);
  outcome.head = head_;
  outcome.url = url_;
  return outcome;
}

} // namespace cukit::http
