#include "fetch_fixture.hpp"

#include <sys/stat.h>

namespace cukit::fetch {
namespace {

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

TEST_F(Fetch, row18_takes_nothing_from_a_server_that_cannot_be_trusted) {
  using Mode = FaultServer::Mode;
  for (const auto mode : {Mode::tls, Mode::tls_expired, Mode::tls_wrong_host, Mode::tls_old}) {
    FaultServer secure(mode);
    secure.serve("/x.whl", bytes);
    const fs::path authority = directory->path() / "authority.pem";
    ASSERT_TRUE(write_file_atomic(authority, mode == Mode::tls ? FaultServer(Mode::tls).authority()
                                                               : secure.authority()));
    options.http.environment.set("CUKIT_CA_BUNDLE", authority.string());
    options.http.attempts = 2;
    client = std::move(*http::Client::create(options.http));
    const auto blob = fetch({secure.url("/x.whl")});
    ASSERT_FALSE(blob);
    EXPECT_EQ(blob.error().code, ErrorCode::source);
    EXPECT_THAT(blob.error().hint, HasSubstr("CUKIT_CA_BUNDLE"));
    EXPECT_EQ(secure.requests(), 0); // not even a question, and no plain http in its place
    EXPECT_EQ(server.requests(), 0);
  }
}

TEST_F(Fetch, row18_fails_with_the_reason_when_the_proxy_wants_a_login) {
  FaultServer proxy;
  proxy.always("files.example.com:443", Fault::status_of(407));
  options.http.environment.set("https_proxy", proxy.url(""));
  client = std::move(*http::Client::create(options.http));
  const auto blob = fetch({"https://files.example.com/x.whl"});
  ASSERT_FALSE(blob);
  EXPECT_THAT(blob.error().message, HasSubstr("status 407 from the proxy"));
  EXPECT_EQ(proxy.requests(), 1);
}

TEST_F(Fetch, row42_escapes_of_a_server_drive_no_terminal) {
  const std::string escape = "\x1b]0;owned\x07\x1b[2J";
  Fault loud = Fault::status_of(403, escape, {"X-Note: " + escape, "Server: " + escape});
  Fault refused = Fault::status_of(407, escape, {"Proxy-Authenticate: " + escape});
  Fault elsewhere = Fault::redirect("ftp://example.com/" + escape);
  Fault tagged = Fault::close_after(1000);
  tagged.etag = "\"" + escape + "\"";
  for (const auto& fault : {loud, refused, elsewhere, tagged}) {
    server.always("/x.whl", fault);
    const auto blob = fetch();
    ASSERT_FALSE(blob);
    EXPECT_THAT(all_text(blob.error()), Not(HasSubstr("\x1b")));
    if (path_exists(side())) {
      EXPECT_THAT(*read_file(side(), 1000), Not(HasSubstr("\x1b")));
    }
  }
  EXPECT_THAT(watcher.lines, ::testing::Each(Not(HasSubstr("\x1b"))));
}

TEST_F(Fetch, row43_another_place_helps_nobody_whose_bytes_are_wrong) {
  FaultServer attacker;
  attacker.serve("/x.whl", std::string(bytes.size(), 'w'));
  const auto blob = fetch({attacker.url("/x.whl")});
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::integrity);
  expect_right(fetch({attacker.url("/x.whl"), server.url("/x.whl")}));
}

TEST_F(Fetch, row43_plain_http_of_a_place_that_nobody_named_is_refused) {
  const auto blob = fetch({"http://files.example.com/x.whl"});
  ASSERT_FALSE(blob);
  EXPECT_THAT(all_text(blob.error()), HasSubstr("plain http is not taken"));
}

TEST_F(Fetch, row42_shows_no_login_and_writes_none_down) {
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

TEST_F(Fetch, what_is_said_about_a_size_takes_no_room_on_the_disk) {
  auto huge = wanted({server.url("/x.whl")});
  huge.size = 3ULL << 30U;
  Fault short_one = Fault::close_after(100);
  short_one.claimed_length = huge.size;
  server.always("/x.whl", short_one);
  options.http.attempts = 1;
  client = std::move(*http::Client::create(options.http));
  std::uint64_t taken = 0;
  const auto done =
      fetch_all(*client, {huge}, options, [](std::size_t, const Result<Blob>&) {}, watcher, {});
  ASSERT_FALSE(done);
  for (const auto& entry : fs::recursive_directory_iterator(options.folder)) {
    struct stat info {};
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    taken += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  EXPECT_LT(taken, 1U << 20U);
}

} // namespace
} // namespace cukit::fetch
