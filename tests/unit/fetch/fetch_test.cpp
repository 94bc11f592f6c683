#include "fetch/fetch.hpp"
#include "support/fault_server.hpp"
#include "text/json.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <map>
#include <mutex>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit::fetch {
namespace {

using namespace std::chrono_literals;
using test::Fault;
using test::FaultServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string numbered(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    bytes += fmt::format("{:08x}", bytes.size());
  }
  return bytes.substr(0, size);
}

std::string all_text(const Error& error) {
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

TEST_F(Fetch, brings_a_file_in_one_request_and_shows_it) {
  const auto blob = fetch();
  expect_right(blob);
  EXPECT_EQ(blob->downloaded, bytes.size());
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(server.seen()[0].header("range"), "");
  EXPECT_EQ(server.seen()[0].header("accept-encoding"), "");
  EXPECT_THAT(watcher.ended, ElementsAre(bytes.size()));
  EXPECT_THAT(watcher.lines, IsEmpty());
}

TEST_F(Fetch, brings_many_files_the_largest_first) {
  std::vector<Wanted> many;
  std::map<std::string, std::string> contents;
  for (int i = 0; i < 20; ++i) {
    const std::string path = fmt::format("/{}", i);
    contents[path] = numbered(1000 * static_cast<std::size_t>(i) + 1);
    server.serve(path, contents[path]);
    many.push_back({path, contents[path].size(), sha256_of(contents[path]), {server.url(path)}});
  }
  std::map<std::size_t, fs::path> blobs;
  const auto all = fetch_all(
      *client, many, options,
      [&](std::size_t i, Result<Blob> blob) { blobs[i] = blob ? blob->path : fs::path(); }, watcher,
      {});
  EXPECT_TRUE(all);
  ASSERT_EQ(blobs.size(), many.size());
  for (std::size_t i = 0; i < many.size(); ++i) {
    EXPECT_EQ(*read_file(blobs[i], 1U << 20U), contents[many[i].file]);
  }
  EXPECT_THAT(watcher.bars, IsEmpty());
}

TEST_F(Fetch, goes_on_with_the_others_when_one_fails) {
  server.serve("/y.whl", "other");
  const std::vector<Wanted> two{wanted({server.url("/gone.whl")}),
                                {"y.whl", 5, sha256_of("other"), {server.url("/y.whl")}}};
  std::map<std::size_t, bool> came;
  const auto all = fetch_all(
      *client, two, options,
      [&](std::size_t i, const Result<Blob>& blob) { came[i] = blob.has_value(); }, watcher, {});
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message, HasSubstr("404"));
  EXPECT_EQ(came, (std::map<std::size_t, bool>{{0, false}, {1, true}}));
}

TEST_F(Fetch, takes_a_finished_file_from_the_cache_after_checking_it) {
  expect_right(fetch());
  server.forget();
  const auto again = fetch();
  expect_right(again);
  EXPECT_EQ(again->downloaded, 0U);
  EXPECT_EQ(server.requests(), 0);
  std::string damaged = bytes;
  damaged[150'000] = '!';
  ASSERT_TRUE(write_file_atomic(options.folder / sha256_of(bytes).hex(), damaged));
  expect_right(fetch());
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(Fetch, reads_a_local_mirror_in_place) {
  const fs::path mirror = directory->path() / "x.whl";
  ASSERT_TRUE(write_file_atomic(mirror, bytes));
  const auto blob = fetch({mirror.string(), server.url("/x.whl")});
  ASSERT_TRUE(blob);
  EXPECT_EQ(blob->path, mirror);
  EXPECT_FALSE(blob->owned);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Fetch, tries_one_place_after_the_other) {
  const fs::path mirror = directory->path() / "x.whl";
  ASSERT_TRUE(write_file_atomic(mirror, std::string(bytes.size(), 'w')));
  server.always("/busy.whl", Fault::status_of(403));
  server.serve("/wrong.whl", std::string(bytes.size(), 'w'));
  const auto blob =
      fetch({mirror.string(), "/nowhere/x.whl", server.url("/gone.whl"), server.url("/busy.whl"),
             server.url("/wrong.whl"), server.url("/x.whl")});
  expect_right(blob);
}

TEST_F(Fetch, comes_back_to_a_local_place_after_a_server_failed) {
  const fs::path mirror = directory->path() / "x.whl";
  ASSERT_TRUE(write_file_atomic(mirror, bytes));
  const auto blob = fetch({server.url("/gone.whl"), mirror.string()});
  ASSERT_TRUE(blob);
  EXPECT_EQ(blob->path, mirror);
}

TEST_F(Fetch, tells_of_every_place_that_failed) {
  server.serve("/wrong.whl", std::string(bytes.size(), 'w'));
  const auto blob = fetch({"/nowhere/x.whl", server.url("/wrong.whl"), server.url("/gone.whl")});
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::integrity);
  EXPECT_THAT(blob.error().message, HasSubstr("none of 3 places gave x.whl"));
  EXPECT_THAT(blob.error().causes,
              ElementsAre(HasSubstr("/nowhere/x.whl"), HasSubstr("/wrong.whl"), HasSubstr("404")));
}

TEST_F(Fetch, says_that_no_source_has_a_file) {
  const auto blob = fetch(std::vector<std::string>{});
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::source);
  EXPECT_THAT(blob.error().message, HasSubstr("no source has x.whl"));
}

TEST_F(Fetch, row9_refuses_other_bytes_with_both_digests) {
  server.always("/x.whl", Fault::wrong_bytes());
  std::string inverted = bytes;
  for (auto& c : inverted) {
    c = static_cast<char>(~c);
  }
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::integrity);
  EXPECT_THAT(blob.error().message, AllOf(HasSubstr("x.whl"), HasSubstr(sha256_of(bytes).hex()),
                                          HasSubstr(sha256_of(inverted).hex())));
  EXPECT_EQ(blob.error().where, server.url("/x.whl"));
  EXPECT_NE(blob.error().hint, "");
  EXPECT_EQ(server.requests(), 1);
  EXPECT_FALSE(path_exists(options.folder / sha256_of(bytes).hex()));
}

TEST_F(Fetch, row10_follows_no_redirect_out_of_the_rules) {
  server.script("/x.whl", {Fault::redirect("ftp://example.com/x.whl")});
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::source);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(Fetch, row10_resumes_behind_a_redirect) {
  server.always("/a.whl", Fault::redirect("/x.whl", 307));
  server.script("/x.whl", {Fault::close_after(100'000)});
  expect_right(fetch({server.url("/a.whl")}));
  EXPECT_EQ(server.body_bytes("/x.whl"), bytes.size());
}

TEST_F(Fetch, row11_takes_no_file_name_from_the_server) {
  server.serve("/a%2F..%2Fb.whl", bytes);
  Fault named;
  named.headers = {"Content-Disposition: attachment; filename=\"../../evil\""};
  server.always("/a%2F..%2Fb.whl", named);
  expect_right(fetch({server.url("/a%2F..%2Fb.whl")}));
  EXPECT_THAT(*list_directory(directory->path()), ElementsAre("downloads"));
}

TEST_F(Fetch, row12_believes_no_digest_in_a_header) {
  Fault lying = Fault::wrong_bytes();
  lying.headers = {"X-Checksum-Sha256: " + sha256_of(bytes).hex()};
  server.always("/x.whl", lying);
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::integrity);
}

TEST_F(Fetch, row13_ends_an_endless_body_at_the_locked_size) {
  server.always("/x.whl", Fault::endless_body());
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::integrity);
  EXPECT_THAT(blob.error().message, HasSubstr("more than the expected 300000 bytes"));
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(fs::file_size(part()), 0U);
}

TEST_F(Fetch, row13_refuses_a_longer_file_by_its_announcement) {
  server.always("/x.whl", Fault::longer_by(1));
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::integrity);
  EXPECT_THAT(blob.error().message, HasSubstr("300001 bytes there, but 300000 are locked"));
}

TEST_F(Fetch, row14_resumes_after_every_break_and_loads_nothing_twice) {
  server.script("/x.whl", {Fault::close_after(50'000), Fault::until_close(60'000),
                           Fault::close_after(0), Fault::none()});
  const auto blob = fetch();
  expect_right(blob);
  EXPECT_EQ(server.requests(), 4);
  EXPECT_EQ(server.body_bytes(), bytes.size());
  EXPECT_EQ(blob->downloaded, bytes.size());
  const auto seen = server.seen();
  EXPECT_EQ(seen[1].header("range"), "bytes=50000-");
  EXPECT_EQ(seen[1].header("if-range"), honest_etag());
  EXPECT_EQ(seen[2].header("range"), "bytes=110000-");
  EXPECT_EQ(seen[3].header("range"), "bytes=110000-");
  EXPECT_THAT(watcher.lines, ::testing::Each(HasSubstr("broke; trying again in")));
}

TEST_F(Fetch, row14_notices_an_end_that_looks_like_success) {
  server.script("/x.whl", {Fault::until_close(60'000)});
  expect_right(fetch());
  EXPECT_EQ(server.body_bytes(), bytes.size());
  EXPECT_THAT(watcher.lines, ElementsAre(HasSubstr("ended after 60000 of 300000 bytes")));
}

TEST_F(Fetch, row14_survives_a_reset) {
  server.script("/x.whl", {Fault::reset_after(100'000), Fault::reset_after(0)});
  expect_right(fetch());
  EXPECT_EQ(server.requests(), 3);
}

TEST_F(Fetch, row14_survives_a_wrong_content_length) {
  server.script("/x.whl", {Fault::claiming_length(1'000'000)});
  expect_right(fetch());
  ASSERT_TRUE(remove_tree(options.folder));
  server.script("/x.whl", {Fault::claiming_length(1000)});
  expect_right(fetch());
}

TEST_F(Fetch, row14_gives_up_on_a_file_that_stays_short) {
  server.serve("/x.whl", bytes.substr(0, 1000));
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_FALSE(path_exists(options.folder / sha256_of(bytes).hex()));
  EXPECT_LE(server.requests(), 2 * limits::k_attempts);
}

TEST_F(Fetch, row15_leaves_a_silent_server_for_another_place) {
  options.http.attempts = 1;
  FaultServer other;
  other.serve("/x.whl", bytes);
  server.always("/x.whl", Fault::stall_after(500));
  expect_right(fetch({server.url("/x.whl"), other.url("/x.whl")}));
}

TEST_F(Fetch, row15_leaves_a_dripping_server) {
  options.http.attempts = 1;
  server.always("/x.whl", Fault::dripping(100ms));
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_THAT(blob.error().message, HasSubstr("too slow or silent"));
}

TEST_F(Fetch, row16_changed_etag_restarts) {
  server.script("/x.whl", {Fault::close_after(100'000), Fault::with_etag("\"new\"")});
  expect_right(fetch());
  EXPECT_EQ(server.requests(), 2);
  EXPECT_EQ(server.body_bytes(), 100'000 + bytes.size()); // the second answer is the whole file
}

TEST_F(Fetch, row16_weak_etag_is_no_ground_to_resume) {
  server.script("/x.whl", {[] {
                  Fault fault = Fault::close_after(100'000);
                  fault.etag = "W/\"weak\"";
                  return fault;
                }()});
  expect_right(fetch());
  EXPECT_EQ(server.seen()[1].header("range"), "");
}

TEST_F(Fetch, row16_resumes_without_any_tag_when_the_size_fits) {
  Fault broken = Fault::close_after(100'000);
  broken.etag = "";
  server.script("/x.whl", {broken, Fault::with_etag("")});
  expect_right(fetch());
  EXPECT_EQ(server.body_bytes(), bytes.size());
  EXPECT_EQ(server.seen()[1].header("range"), "bytes=100000-");
  EXPECT_EQ(server.seen()[1].header("if-range"), "");
}

TEST_F(Fetch, row16_restarts_where_the_file_changed_and_no_tag_tells) {
  Fault untagged = Fault::with_etag("");
  Fault of_another_size = untagged;
  of_another_size.claimed_total = 400'000;
  Fault tagged_since = Fault::with_etag("\"new\"");
  for (const auto& fault : {untagged, of_another_size, tagged_since}) {
    server.forget();
    leave_part(std::string(100'000, '?'), server.url("/x.whl"), "", bytes.size());
    server.script("/x.whl", {fault});
    expect_right(fetch());
    ASSERT_EQ(server.requests(), 2);
    EXPECT_EQ(server.seen()[1].header("range"), "");
    ASSERT_TRUE(remove_tree(options.folder));
  }
}

TEST_F(Fetch, row16_takes_the_whole_file_instead_of_a_part) {
  server.script("/x.whl", {Fault::close_after(100'000), Fault::whole_file()});
  expect_right(fetch());
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(Fetch, row16_restarts_after_a_wrong_range) {
  for (const auto& fault : {Fault::range_off_by(1), Fault::range_off_by(-1),
                            Fault::total_said(400'000), Fault::status_of(416)}) {
    server.forget();
    server.script("/x.whl", {Fault::close_after(100'000), fault});
    expect_right(fetch());
    ASSERT_EQ(server.requests(), 3);
    EXPECT_EQ(server.seen()[2].header("range"), "");
    ASSERT_TRUE(remove_tree(options.folder));
  }
}

TEST_F(Fetch, row16_restarts_once_when_the_digest_is_wrong_after_a_resume) {
  leave_part(std::string(100'000, '?'), server.url("/x.whl"), honest_etag(), bytes.size());
  expect_right(fetch());
  ASSERT_EQ(server.requests(), 2);
  EXPECT_EQ(server.seen()[0].header("range"), "bytes=100000-");
  EXPECT_EQ(server.seen()[1].header("range"), "");
  EXPECT_THAT(watcher.lines, ElementsAre(HasSubstr("beginning again")));
}

TEST_F(Fetch, row16_does_not_restart_for_ever) {
  leave_part(bytes.substr(0, 100'000), server.url("/x.whl"), honest_etag(), bytes.size());
  server.always("/x.whl", Fault::wrong_bytes());
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::integrity);
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(Fetch, row16_resumes_what_an_earlier_run_left) {
  leave_part(bytes.substr(0, 200'000), server.url("/x.whl"), honest_etag(), bytes.size());
  const auto blob = fetch();
  expect_right(blob);
  EXPECT_EQ(server.body_bytes(), 100'000U);
  EXPECT_EQ(blob->downloaded, 100'000U);
  EXPECT_THAT(watcher.ended, ElementsAre(bytes.size()));
}

TEST_F(Fetch, row16_begins_anew_when_the_part_is_of_something_else) {
  const std::string url = server.url("/x.whl");
  const auto begins_anew = [&](const char* what) {
    server.forget();
    expect_right(fetch());
    ASSERT_EQ(server.requests(), 1) << what;
    EXPECT_EQ(server.seen()[0].header("range"), "") << what;
    ASSERT_TRUE(remove_tree(options.folder));
  };
  leave_part(bytes.substr(0, 1000), "https://elsewhere.example.com/x.whl", honest_etag(),
             bytes.size());
  begins_anew("another location");
  leave_part(bytes.substr(0, 1000), url, honest_etag(), bytes.size() + 1);
  begins_anew("another size");
  leave_part(bytes + "more", url, honest_etag(), bytes.size());
  begins_anew("longer than the file");
  leave_part(bytes.substr(0, 1000), url, honest_etag(), bytes.size());
  ASSERT_TRUE(
      write_file_atomic(side(), fmt::format(R"({{"location": "{}", "size": 300000}})", url)));
  begins_anew("no tag");
  leave_part(bytes.substr(0, 1000), url, honest_etag(), bytes.size());
  ASSERT_TRUE(write_file_atomic(side(), "{\"location\": "));
  begins_anew("a torn side file");
}

TEST_F(Fetch, row16_finishes_a_part_that_is_complete_without_asking) {
  leave_part(bytes, server.url("/x.whl"), honest_etag(), bytes.size());
  expect_right(fetch());
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Fetch, row17_waits_for_a_busy_server_and_fails_fast_where_waiting_is_vain) {
  server.script("/x.whl", {Fault::retry_after(503, "0"), Fault::retry_after(429, "junk")});
  expect_right(fetch());
  EXPECT_EQ(server.requests(), 3);
  for (const int status : {403, 404, 501, 511}) {
    const std::string path = fmt::format("/{}", status);
    server.always(path, Fault::portal(status));
    ASSERT_TRUE(remove_tree(options.folder));
    const auto blob = fetch({server.url(path)});
    ASSERT_FALSE(blob);
    EXPECT_EQ(blob.error().code, ErrorCode::source);
    EXPECT_THAT(blob.error().message, HasSubstr(std::to_string(status)));
    EXPECT_EQ(server.requests(path), 1);
  }
}

TEST_F(Fetch, row17_gives_up_after_all_attempts) {
  server.always("/x.whl", Fault::retry_after(503, "0"));
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_THAT(blob.error().message, HasSubstr("503"));
  EXPECT_EQ(server.requests(), limits::k_attempts);
}

TEST_F(Fetch, row17_names_a_portal_that_answers_instead_of_the_file) {
  server.always("/x.whl", Fault::portal(200));
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_THAT(blob.error().hint, HasSubstr("captive portal"));
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(Fetch, row18_takes_nothing_from_a_server_with_a_bad_certificate) {
  FaultServer secure(FaultServer::Mode::tls);
  secure.serve("/x.whl", bytes);
  const auto blob = fetch({secure.url("/x.whl")});
  ASSERT_FALSE(blob);
  EXPECT_THAT(blob.error().hint, HasSubstr("CUKIT_CA_BUNDLE"));
  EXPECT_EQ(secure.requests(), 0);
}

TEST_F(Fetch, row19_a_stop_ends_within_a_second_and_keeps_the_part) {
  server.script("/x.whl", {Fault::stall_after(100'000)});
  std::chrono::steady_clock::time_point asked;
  std::jthread later([&] {
    while (!path_exists(part()) || fs::file_size(part()) < 100'000) {
      std::this_thread::yield();
    }
    asked = std::chrono::steady_clock::now();
    stop.request_stop();
  });
  const auto blob = fetch();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 1s);
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::interrupted);
  EXPECT_EQ(fs::file_size(part()), 100'000U);
  later.join();
  stop = std::stop_source();
  server.forget();
  expect_right(fetch());
  EXPECT_EQ(server.body_bytes(), 200'000U);
}

TEST_F(Fetch, row19_a_stop_before_the_start_asks_nobody) {
  stop.request_stop();
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::interrupted);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Fetch, row22_a_full_disk_is_named_with_need_and_have) {
  options.folder = directory->path() / "small";
  ASSERT_TRUE(make_directories(options.folder));
  std::string skipped;
  // In a thread of its own with mounts of its own: nothing is left behind.
  std::jthread([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", options.folder.c_str(), "tmpfs", 0, "size=128k") != 0) {
      skipped = "mounting needs root";
      return;
    }
    const auto blob = fetch();
    ASSERT_FALSE(blob);
    EXPECT_EQ(blob.error().code, ErrorCode::host);
    EXPECT_THAT(
        blob.error().message,
        AllOf(HasSubstr("no room"), HasSubstr("300 kB more are needed"), HasSubstr("are free")));
    EXPECT_NE(blob.error().hint, "");
    EXPECT_EQ(server.requests(), 1);
  }).join();
  if (!skipped.empty()) {
    GTEST_SKIP() << skipped;
  }
}

TEST_F(Fetch, row34_a_second_process_waits_and_takes_what_the_first_brought) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      // A client of its own: connections are not shared across a fork.
      const auto mine = http::Client::create(options.http);
      Silent silent;
      const auto all = fetch_all(**mine, {wanted({server.url("/x.whl")})}, options,
                                 [](std::size_t, const Result<Blob>&) {}, silent, {});
      ::_exit(all ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(server.body_bytes(), bytes.size());
  expect_right(fetch());
}

TEST_F(Fetch, brings_the_same_file_once_when_it_is_wanted_twice) {
  int came = 0;
  const auto all =
      fetch_all(*client, {wanted({server.url("/x.whl")}), wanted({server.url("/x.whl")})}, options,
                [&](std::size_t, const Result<Blob>& blob) { came += blob ? 1 : 0; }, watcher, {});
  EXPECT_TRUE(all);
  EXPECT_EQ(came, 2);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(Fetch, shows_no_login_and_writes_none_down) {
  std::string url = server.url("/x.whl?token=geheim");
  url.insert(url.find("127."), "user:geheim@");
  for (const auto& fault : {Fault::wrong_bytes(), Fault::status_of(403), Fault::longer_by(3),
                            Fault::portal(200), Fault::reset_after(70), Fault::until_close(70),
                            Fault::redirect(url), Fault::endless_body()}) {
    server.always("/x.whl", fault);
    const auto blob = fetch({url, url});
    ASSERT_FALSE(blob);
    EXPECT_THAT(all_text(blob.error()), Not(HasSubstr("geheim")));
    if (path_exists(side())) {
      EXPECT_THAT(*read_file(side(), 1000), Not(HasSubstr("geheim")));
    }
    ASSERT_TRUE(remove_tree(options.folder));
  }
  EXPECT_THAT(watcher.lines, ::testing::Each(Not(HasSubstr("geheim"))));
  EXPECT_EQ(server.seen()[0].header("authorization"),
            "Basic dXNlcjpnZWhlaW0="); // but the server got it
}

} // namespace
} // namespace cukit::fetch
