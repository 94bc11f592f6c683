#include "http/exchange.hpp"

#include "base/log.hpp"
#include "base/strings.hpp"
#include "http/failure.hpp"
#include "http/url.hpp"

#include <algorithm>

namespace cukit::http {

namespace {

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
  set(handle(), CURLOPT_PREREQFUNCTION, &Exchange::on_sending);
  set(handle(), CURLOPT_PREREQDATA, static_cast<void*>(this));
  set(handle(), CURLOPT_XFERINFOFUNCTION, &Exchange::on_progress);
  set(handle(), CURLOPT_XFERINFODATA, static_cast<void*>(this));
  set(handle(), CURLOPT_NOPROGRESS, 0L);
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
  error_page_.clear();
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

/// Only now the time counts: before it the exchange may have waited for others of its host.
int Exchange::on_sending(void* self, char*, char*, int, int) {
  auto& asked = static_cast<Exchange*>(self)->asked_;
  asked = asked.value_or(std::chrono::steady_clock::now());
  return CURL_PREREQFUNC_OK;
}

int Exchange::on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) {
  auto& exchange = *static_cast<Exchange*>(self);
  const auto bytes = static_cast<std::uint64_t>(std::max<curl_off_t>(received, 0));
  exchange.is_late_ = exchange.is_late_ || exchange.is_overdue(bytes);
  return exchange.is_late_ ? 1 : 0;
}

bool Exchange::is_overdue(std::uint64_t received) const {
  using std::chrono::seconds;
  if (!asked_) {
    return false;
  }
  const auto taken = std::chrono::steady_clock::now() - *asked_;
  const auto earned = seconds(received / limits::k_least_bytes_per_second);
  return taken > session_.options().patience + earned ||
         (call_.is_page && taken > seconds(limits::k_page_seconds));
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
    // Read to keep the connection and to tell what answered; a longer one is not worth that.
    dropped_ += bytes.size();
    error_page_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return dropped_ <= limits::k_error_page_bytes;
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
  return refused_status();
}

Outcome Exchange::refused_status() {
  const auto wait = retry_after(handle());
  Outcome outcome = end(tl::unexpected<Error>(
      status_error({head_, error_page_, wait, !session_.proxy_to(url_).empty()}, url_)));
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
  if (auto allowed = session_.check(location, from ? &*from : nullptr); !allowed) {
    error.message = fmt::format("refused to follow a redirect from {} to {}", redact_url(url_),
                                redact_url(location));
    error.causes.push_back(std::move(allowed.error().message));
    error.hint = std::move(allowed.error().hint);
    return end(tl::unexpected<Error>(std::move(error)));
  }
  log_detail("http", "{} leads to {}", redact_url(url_), redact_url(location));
  url_ = with_login_of(url_, location);
  prepare_hop(from && to && *from == *to);
  return std::nullopt;
}

Outcome Exchange::failure(CURLcode code) {
  if (is_late_) {
    Outcome outcome =
        end(tl::unexpected<Error>(transport_error(CURLE_OPERATION_TIMEDOUT, "", url_)));
    outcome.attempt.transport_failed = !call_.is_page;
    return outcome;
  }
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
  if (result) {
    log_detail("http", "{} -> {}", redact_url(url_), head_.status);
  } else {
    log_decision("http", "{} -> {}: {}", redact_url(url_), head_.status, result.error().message);
  }
  Outcome outcome;
  outcome.result = std::move(result);
  outcome.head = head_;
  outcome.url = url_;
  return outcome;
}

} // namespace cukit::http
