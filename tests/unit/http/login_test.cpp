// Logins: of a URL, of netrc when asked, of a proxy; and who gets to see them.
#include "base/files.hpp"
#include "http/client.hpp"
#include "support/fault_server.hpp"

#include <gmock/gmock.h>

namespace cukit::http {
namespace {

using test::Fault;
using test::FaultServer;
using ::testing::HasSubstr;

class Login : public ::testing::Test {
protected:
  Login() {
    server.serve("/x", "here");
    options.first_delay = std::chrono::milliseconds(1);
    options.environment.set("HOME", folder->path().string());
  }
  void write_netrc(const std::string& text) {
    ASSERT_TRUE(write_file_atomic(folder->path() / ".netrc", text, 0600));
  }
  Result<Response> get(const std::string& url) {
    CUKIT_TRY_ASSIGN(const auto client, Client::create(options));
    return client->get({.url = url}, {});
  }
  static std::string named(std::string url) { // the same server by another name
    return url.replace(url.find("127.0.0.1"), 9, "localhost");
  }
  static std::string with_login(std::string url, const std::string& login) {
    return url.insert(url.find("://") + 3, login + "@");
  }
  FaultServer server;
  Options options;
  Result<TempDirectory> folder = TempDirectory::create(::testing::TempDir(), "login");
};

// base64 of user:geheim, netrc:secret and proxy:pass
constexpr const char* k_user = "Basic dXNlcjpnZWhlaW0=";
constexpr const char* k_netrc = "Basic bmV0cmM6c2VjcmV0";
constexpr const char* k_proxy = "Basic cHJveHk6cGFzcw==";

TEST_F(Login, of_netrc_is_used_only_when_asked) {
  write_netrc("machine 127.0.0.1 login netrc password secret\n");
  ASSERT_TRUE(get(server.url("/x")));
  options.netrc = true;
  ASSERT_TRUE(get(server.url("/x")));
  EXPECT_EQ(server.seen()[0].header("authorization"), "");
  EXPECT_EQ(server.seen()[1].header("authorization"), k_netrc);
}

TEST_F(Login, of_netrc_is_for_its_machine_alone) {
  write_netrc("machine 127.0.0.1 login netrc password secret\n");
  options.netrc = true;
  ASSERT_TRUE(get(named(server.url("/x"))));
  EXPECT_EQ(server.seen()[0].header("authorization"), "");
}

TEST_F(Login, row10_of_netrc_does_not_follow_a_redirect_to_another_machine) {
  write_netrc("machine 127.0.0.1 login netrc password secret\n");
  options.netrc = true;
  FaultServer other;
  other.serve("/x", "there");
  server.always("/x", Fault::redirect(named(other.url("/x"))));
  const auto page = get(server.url("/x"));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->body, "there");
  EXPECT_EQ(server.seen()[0].header("authorization"), k_netrc);
  EXPECT_EQ(other.seen()[0].header("authorization"), "");
}

TEST_F(Login, of_a_url_wins_over_netrc) {
  write_netrc("default login netrc password secret\n");
  options.netrc = true;
  ASSERT_TRUE(get(with_login(server.url("/x"), "user:geheim")));
  EXPECT_EQ(server.seen()[0].header("authorization"), k_user);
}

TEST_F(Login, file_may_be_named_and_must_exist) {
  options.netrc = true;
  const auto missing = get(server.url("/x"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::host);
  EXPECT_THAT(missing.error().message, HasSubstr(".netrc"));
  ASSERT_TRUE(write_file_atomic(folder->path() / "logins",
                                "machine 127.0.0.1 login netrc password secret\n", 0600));
  options.environment.set("NETRC", (folder->path() / "logins").string());
  ASSERT_TRUE(get(server.url("/x")));
  EXPECT_EQ(server.seen()[0].header("authorization"), k_netrc);
}

TEST_F(Login, of_a_proxy_goes_to_the_proxy_and_is_not_shown) {
  FaultServer proxy;
  proxy.serve("/x", "by proxy");
  options.named = {"http://mirror.example.com", "http://example.com"};
  options.environment.set("http_proxy", with_login(proxy.url(""), "proxy:pass"));
  const auto page = get("http://mirror.example.com/x");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->body, "by proxy");
  EXPECT_EQ(proxy.seen()[0].header("proxy-authorization"), k_proxy);
  EXPECT_EQ(proxy.seen()[0].header("authorization"), "");
  proxy.always("/x", Fault::status_of(407, "", {"Proxy-Authenticate: Basic realm=\"x\""}));
  const auto refused = get("http://mirror.example.com/x");
  ASSERT_FALSE(refused);
  for (const auto& text : {refused.error().message, refused.error().where, refused.error().hint}) {
    EXPECT_THAT(text, ::testing::Not(HasSubstr("pass@")));
  }
}

TEST_F(Login, and_a_proxy_that_is_down_is_not_shown_either) {
  options.attempts = 1;
  options.environment.set("https_proxy", "http://proxy:geheim@127.0.0.1:9");
  const auto page = get("https://mirror.example.com/x");
  ASSERT_FALSE(page);
  std::string text = page.error().message + page.error().where + page.error().hint;
  for (const auto& cause : page.error().causes) {
    text += cause;
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("geheim")));
}

TEST_F(Login, each_scheme_has_its_proxy_and_no_proxy_names_what_goes_past_it) {
  FaultServer plain;
  FaultServer tunnel;
  FaultServer all;
  for (auto* proxy : {&plain, &tunnel, &all}) {
    proxy->serve("/x", "by proxy");
    proxy->always("mirror.example.com:443", Fault::status_of(403));
  }
  options.named = {"http://mirror.example.com", "http://example.com"};
  options.attempts = 1;
  options.environment.set("http_proxy", plain.url(""));
  options.environment.set("https_proxy", tunnel.url(""));
  options.environment.set("all_proxy", all.url(""));
  EXPECT_TRUE(get("http://mirror.example.com/x"));
  EXPECT_FALSE(get("https://mirror.example.com/x"));
  EXPECT_EQ(plain.requests("/x"), 1);
  EXPECT_EQ(tunnel.requests("mirror.example.com:443"), 1);
  EXPECT_EQ(all.requests(), 0);
  options.environment.unset("http_proxy");
  EXPECT_TRUE(get("http://mirror.example.com/x"));
  EXPECT_EQ(all.requests("/x"), 1);
  options.environment.set("no_proxy", "localhost,127.0.0.1,.internal.example.com");
  EXPECT_TRUE(get(server.url("/x")));
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(all.requests(), 1);
}

std::string said(const Error& error) {
  std::string text = error.message + error.where + error.hint;
  for (const auto& cause : error.causes) {
    text += cause;
  }
  return text;
}

TEST_F(Login, for_any_host_goes_to_hosts_that_the_user_named_alone) {
  write_netrc("default login netrc password secret\n");
  options.netrc = true;
  options.named = {server.url("/simple")};
  FaultServer other;
  other.serve("/x", "there");
  server.always("/away", Fault::redirect(named(other.url("/x"))));
  ASSERT_TRUE(get(server.url("/x")));
  ASSERT_TRUE(get(server.url("/away")));
  ASSERT_TRUE(get(named(other.url("/x")))); // as a link of a page would be asked
  EXPECT_EQ(server.seen()[0].header("authorization"), k_netrc);
  EXPECT_EQ(server.seen()[1].header("authorization"), k_netrc);
  EXPECT_EQ(other.seen()[0].header("authorization"), "");
  EXPECT_EQ(other.seen()[1].header("authorization"), "");
}

TEST_F(Login, of_a_machine_that_the_file_names_goes_there_wherever_the_address_comes_from) {
  write_netrc("# machine elsewhere\nmacdef init\nmachine nothing\n\nmachine 127.0.0.1\n login "
              "netrc\n password \"secret\"\ndefault login other password other\n");
  options.netrc = true;
  ASSERT_TRUE(get(server.url("/x")));
  ASSERT_TRUE(get(named(server.url("/x"))));
  EXPECT_EQ(server.seen()[0].header("authorization"), k_netrc);
  EXPECT_EQ(server.seen()[1].header("authorization"), "");
}

TEST_F(Login, of_a_proxy_that_needs_quoting_is_refused_without_being_shown) {
  for (const char* proxy : {"http://proxy:ge?heim@127.0.0.1:9", "http://proxy:ge#heim@127.0.0.1:9",
                            "http://proxy:ge/heim@127.0.0.1:9", "proxy:ge/heim@127.0.0.1:9"}) {
    options.environment.set("https_proxy", proxy);
    const auto page = get("https://mirror.example.com/x");
    ASSERT_FALSE(page) << proxy;
    EXPECT_THAT(said(page.error()), ::testing::Not(HasSubstr("heim"))) << proxy;
    EXPECT_THAT(page.error().hint, HasSubstr("%3F")) << proxy;
  }
}

} // namespace
} // namespace cukit::http
