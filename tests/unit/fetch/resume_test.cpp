#include "fetch_fixture.hpp"

namespace cukit::fetch {
namespace {

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

} // namespace
} // namespace cukit::fetch
