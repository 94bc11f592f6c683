#include "fetch_fixture.hpp"

namespace cukit::fetch {
namespace {

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

TEST_F(Fetch, row15_leaves_a_server_that_never_ends_its_handshake) {
  // It waits for the end of a request in plain text, and so never answers the greeting.
  options.http.attempts = 1;
  options.http.connect = 1s;
  client = std::move(*http::Client::create(options.http));
  std::string mute = server.url("/x.whl");
  mute.replace(0, 5, "https:");
  expect_right(fetch({mute, server.url("/x.whl")}));
  EXPECT_THAT(watcher.lines, ElementsAre(HasSubstr("too slow or silent")));
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

} // namespace
} // namespace cukit::fetch
