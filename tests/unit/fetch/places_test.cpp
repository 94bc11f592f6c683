#include "fetch_fixture.hpp"

#include <sys/stat.h>

namespace cukit::fetch {
namespace {

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
  options.parallel = 1;
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
  for (std::size_t i = 0; i < many.size(); ++i) {
    EXPECT_EQ(server.seen()[i].path, many[many.size() - 1 - i].file);
  }
}

TEST_F(Fetch, checks_the_largest_of_a_local_mirror_first) {
  options.parallel = 1; // else they end as they like
  std::vector<Wanted> many;
  for (int i = 0; i < 5; ++i) {
    const auto text = numbered(1000 * static_cast<std::size_t>(i) + 1);
    const auto path = directory->path() / std::to_string(i);
    ASSERT_TRUE(write_file_atomic(path, text));
    many.push_back({path.string(), text.size(), sha256_of(text), {path.string()}});
  }
  std::vector<std::size_t> order;
  EXPECT_TRUE(fetch_all(*client, many, options,
                        [&](std::size_t i, const Result<Blob>& blob) {
                          EXPECT_TRUE(blob);
                          order.push_back(i);
                        },
                        watcher, {}));
  EXPECT_THAT(order, ElementsAre(4, 3, 2, 1, 0));
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

TEST_F(Fetch, a_pipe_in_a_mirror_is_passed_over_and_not_waited_for) {
  const auto pipe = directory->path() / "x.whl";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_right(fetch({pipe.string(), server.url("/x.whl")}));
}

} // namespace
} // namespace cukit::fetch
