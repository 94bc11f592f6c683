// A server that can do wrong, a client without patience, and what a fetch showed and left.
#pragma once

#include "fetch/fetch.hpp"
#include "support/fault_server.hpp"
#include "text/json.hpp"

#include <gmock/gmock.h>
#include <map>
#include <mutex>

namespace cukit::fetch {

using namespace std::chrono_literals;
using test::Fault;
using test::FaultServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

inline std::string numbered(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    bytes += fmt::format("{:08x}", bytes.size());
  }
  return bytes.substr(0, size);
}

inline std::string all_text(const Error& error) {
  std::string text = error.message + "\n" + error.where + "\n" + error.hint;
  for (const auto& cause : error.causes) {
    text += "\n" + cause;
  }
  return text;
}

class Watcher final : public Progress {
public:
  int begin(std::string_view, std::uint64_t, std::string_view) override {
    const std::lock_guard guard(mutex);
    bars[++last] = 0;
    return last;
  }
  void advance(int work, std::uint64_t amount) override {
    const std::lock_guard guard(mutex);
    bars.at(work) += amount;
  }
  void reset(int work, std::uint64_t amount) override {
    const std::lock_guard guard(mutex);
    bars.at(work) = amount;
  }
  void end(int work) override {
    const std::lock_guard guard(mutex);
    ended.push_back(bars.at(work));
    bars.erase(work);
  }
  void say(std::string_view line) override {
    const std::lock_guard guard(mutex);
    lines.emplace_back(line);
  }
  std::mutex mutex; ///< guards the rest
  int last = 0;
  std::map<int, std::uint64_t> bars;
  std::vector<std::uint64_t> ended;
  std::vector<std::string> lines;
};

class Fetch : public ::testing::Test {
protected:
  Fetch() {
    server.serve("/x.whl", bytes);
    options.folder = directory->path() / "downloads";
    options.http.first_delay = 1ms;
    options.http.stall = 1s;
    client = std::move(*http::Client::create(options.http));
  }
  [[nodiscard]] Wanted wanted(std::vector<std::string> locations) const {
    return {.file = "x.whl",
            .size = bytes.size(),
            .sha256 = sha256_of(bytes),
            .locations = std::move(locations)};
  }
  Result<Blob> fetch(const std::vector<std::string>& locations) {
    Result<Blob> blob = fail(ErrorCode::host, "never ended");
    int calls = 0;
    const auto all = fetch_all(
        *client, {wanted(locations)}, options,
        [&](std::size_t, Result<Blob> result) {
          ++calls;
          blob = std::move(result);
        },
        watcher, stop.get_token());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(all.has_value(), blob.has_value());
    EXPECT_THAT(watcher.bars, IsEmpty());
    return blob;
  }
  Result<Blob> fetch() { return fetch({server.url("/x.whl")}); }
  void expect_right(const Result<Blob>& blob) {
    ASSERT_TRUE(blob) << all_text(blob.error());
    EXPECT_EQ(blob->path, options.folder / sha256_of(bytes).hex());
    EXPECT_TRUE(blob->owned);
    EXPECT_TRUE(read_file(blob->path, 1U << 30U).value() == bytes);
    EXPECT_FALSE(path_exists(part()));
    EXPECT_FALSE(path_exists(side()));
  }
  [[nodiscard]] fs::path part() const {
    return options.folder / (sha256_of(bytes).hex() + ".part");
  }
  [[nodiscard]] fs::path side() const { return part().string() + ".json"; }
  void leave_part(const std::string& content, const std::string& location, const std::string& etag,
                  std::uint64_t size) {
    ASSERT_TRUE(make_directories(options.folder));
    ASSERT_TRUE(write_file_atomic(part(), content));
    auto json = text::Json::object();
    json.set("location", location).set("etag", etag).set("size", size);
    ASSERT_TRUE(write_file_atomic(side(), json.dump()));
  }
  [[nodiscard]] std::string honest_etag() const {
    return fmt::format("\"{}\"", sha256_of(bytes).hex().substr(0, 16));
  }

  const std::string bytes = numbered(300'000);
  Result<TempDirectory> directory = TempDirectory::create(::testing::TempDir(), "fetch");
  FaultServer server;
  Options options;
  Watcher watcher;
  std::unique_ptr<http::Client> client;
  std::stop_source stop;
};

} // namespace cukit::fetch
