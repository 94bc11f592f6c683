#include "support/fault_server.hpp"

namespace cukit::test {

namespace {

Fault ending(Fault::Ending how, std::uint64_t body_bytes) {
  Fault fault;
  fault.ending = how;
  fault.after = body_bytes;
  return fault;
}

} // namespace

Fault Fault::close_after(std::uint64_t body_bytes) {
  return test::ending(Ending::fin, body_bytes);
}
Fault Fault::reset_after(std::uint64_t body_bytes) {
  return test::ending(Ending::reset, body_bytes);
}
Fault Fault::stall_after(std::uint64_t body_bytes) {
  return test::ending(Ending::stall, body_bytes);
}

Fault Fault::no_answer() {
  Fault fault = stall_after(0);
  fault.mute = true;
  return fault;
}

Fault Fault::dripping(std::chrono::milliseconds pause) {
  Fault fault;
  fault.drip = pause;
  return fault;
}

Fault Fault::claiming_length(std::uint64_t length) {
  Fault fault;
  fault.claimed_length = length;
  fault.ending = Ending::fin; // a client that believes the header would wait for the rest
  fault.after = UINT64_MAX;
  return fault;
}

Fault Fault::endless_body() {
  Fault fault;
  fault.framing = Framing::chunked;
  fault.endless = true;
  return fault;
}

Fault Fault::longer_by(std::uint64_t bytes) {
  Fault fault;
  fault.extra = bytes;
  return fault;
}

Fault Fault::until_close(std::uint64_t body_bytes) {
  Fault fault = close_after(body_bytes);
  fault.framing = Framing::until_close;
  return fault;
}

Fault Fault::whole_file() {
  Fault fault;
  fault.ignore_range = true;
  return fault;
}

Fault Fault::range_off_by(std::int64_t bytes) {
  Fault fault;
  fault.range_shift = bytes;
  return fault;
}

Fault Fault::total_said(std::uint64_t total) {
  Fault fault;
  fault.claimed_total = total;
  return fault;
}

Fault Fault::with_etag(std::string etag) {
  Fault fault;
  fault.etag = std::move(etag);
  return fault;
}

Fault Fault::status_of(int status, std::string body, std::vector<std::string> headers) {
  Fault fault;
  fault.status = status;
  fault.body = std::move(body);
  fault.headers = std::move(headers);
  return fault;
}

Fault Fault::retry_after(int status, const std::string& value) {
  return status_of(status, "come back later", {"Retry-After: " + value});
}

Fault Fault::redirect(const std::string& location, int status) {
  return status_of(status, "it is elsewhere", {"Location: " + location});
}

Fault Fault::portal(int status) {
  return status_of(status, "<html><body>Please log in to the network</body></html>",
                   {"Content-Type: text/html; charset=utf-8"});
}

Fault Fault::wrong_bytes() {
  Fault fault;
  fault.flipped = true;
  return fault;
}

Fault Fault::gzipped() {
  Fault fault;
  fault.gzip = true;
  return fault;
}

} // namespace cukit::test
