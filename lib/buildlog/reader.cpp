#include "base/strings.hpp"
#include "buildlog/collector.hpp"
#include "buildlog/lines.hpp"

#include <algorithm>

namespace cukit::buildlog {

struct Reader::State {
  explicit State(std::vector<Phrase> phrases) : collector(std::move(phrases)) {}
  LineCutter cutter;
  Collector collector;
  std::uint64_t bytes = 0;
};

Reader::Reader(std::vector<Phrase> phrases) : state_(std::make_unique<State>(std::move(phrases))) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::feed(std::string_view piece) {
  state_->bytes += piece.size();
  state_->cutter.feed(piece, [&](std::string_view line, std::size_t number) {
    state_->collector.line(line, number);
  });
}

Facts Reader::finish() {
  state_->cutter.finish(
      [&](std::string_view line, std::size_t number) { state_->collector.line(line, number); });
  auto facts = state_->collector.finish();
  facts.bytes = state_->bytes;
  facts.lines = state_->cutter.count();
  return facts;
}

Facts read(std::string_view log, std::vector<Phrase> phrases) {
  Reader reader(std::move(phrases));
  reader.feed(log);
  return reader.finish();
}

std::string_view text_of(Thing thing) {
  switch (thing) {
  case Thing::header:
    return "header";
  case Thing::tool:
    return "program";
  case Thing::library:
    return "library";
  case Thing::symbol:
    return "symbol";
  case Thing::option:
    return "option";
  case Thing::target:
    return "GPU target";
  case Thing::version:
    return "version";
  case Thing::module:
    return "Python module";
  case Thing::package:
    return "package";
  case Thing::cmake_target:
    return "CMake target";
  case Thing::host_compiler:
    return "host compiler";
  case Thing::file:
    return "file";
  case Thing::memory:
    return "memory";
  case Thing::disk:
    return "disk space";
  case Thing::permission:
    return "permission";
  case Thing::network:
    return "network";
  case Thing::certificate:
    return "certificate";
  case Thing::digest:
    return "digest";
  case Thing::key:
    return "repository key";
  case Thing::driver:
    return "driver";
  case Thing::cuda:
    return "CUDA error";
  case Thing::code:
    return "source code";
  case Thing::other:
    break;
  }
  return "failure";
}

std::string_view text_of(State state) {
  switch (state) {
  case State::missing:
    return "missing";
  case State::unknown:
    return "unknown";
  case State::incompatible:
    return "incompatible";
  case State::duplicate:
    return "duplicate";
  case State::killed:
    return "killed";
  case State::exhausted:
    return "exhausted";
  case State::refused:
    return "refused";
  case State::failed:
    break;
  }
  return "failed";
}

} // namespace cukit::buildlog
