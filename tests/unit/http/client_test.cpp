#include "http/client.hpp"
#include "support/fault_server.hpp"
#include "support/patience.hpp"

#include <algorithm>
#include <ctime>
#include <gmock/gmock.h>
#include <thread>

namespace cukit::http {
namespace {

using namespace std::chrono_literals;
using test::Fault;
using test::FaultServer;
using ::testing::HasSubstr;
using ::testing::Not;

Options quick() {
  Options options;
  options.first_delay = 1ms;
  options.stall = 1s;
  return options;
}

std::unique_ptr<Client> client_with(Options options) {
  auto client = Client::create(std::move(options));
  EXPECT_TRUE(client) << client.error().message;
  return std::move(*client);
}

std::string all_text(const Error& error) {
  std::string text = error.message + "\n" + error.where + "\n" + error.hint;
  for (const auto& cause : error.causes) {
    text += "\n" + cause;
  }
  return text;
}

class HttpClient : public ::testing::Test {
protected:
  Result<Response> get(const std::string& path, std::vector<std::string> headers = {}) {
    return client->get({.url = server.url(path), .headers = std::move(headers)}, {});
  }
  FaultServer server;
  std::unique_ptr<Client> client = client_with(quick());
};

TEST_F(HttpClient, reads_pages_in_the_order_of_the_requests) {
  std::vector<Request> requests;
  for (int i = 0; i < 30; ++i) {
    server.serve(fmt::format("/{}", i), fmt::format("page {}", i),
                 "Application/JSON; charset=utf-8");
    requests.push_back({.url = server.url(fmt::format("/{}", i))});
  }
  const auto pages = client->get_all(requests, {});
  ASSERT_EQ(pages.size(), 30U);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    ASSERT_TRUE(pages[i]);
    EXPECT_EQ(pages[i]->body, fmt::format("page {}", i));
    EXPECT_EQ(pages[i]->content_type, "application/json");
    EXPECT_EQ(pages[i]->final_url, requests[i].url);
  }
}

TEST_F(HttpClient, opens_no_more_connections_to_a_host_than_allowed_and_keeps_them) {
  auto options = quick();
  options.connections_per_host = 3;
  client = client_with(options);
  server.serve("/x", "x");
  const std::vector<Request> requests(20, Request{.url = server.url("/x")});
  client->get_all(requests, {});
  client->get_all(requests, {});
  int connections = 0;
  for (const auto& seen : server.seen()) {
    connections = std::max(connections, seen.connection);
  }
  EXPECT_LE(connections, 3);
}

TEST_F(HttpClient, takes_packed_pages_but_packed_ranges_never) {
  const std::string text(50'000, 'j');
  server.serve("/page", text);
  server.script("/page", {Fault::gzipped()});
  const auto page = get("/page");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->body, text);
  EXPECT_LT(server.body_bytes(), 1000U);
  const auto part = client->get({.url = server.url("/page"), .range = std::pair(1, 4)}, {});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->body, "jjjj");
  EXPECT_EQ(part->total_size, 50'000U);
  EXPECT_EQ(server.seen().back().header("accept-encoding"), "");
}

TEST_F(HttpClient, row13_counts_bytes_after_unpacking) {
  server.serve("/page", std::string(5'000'000, 'j'));
  server.script("/page", {Fault::gzipped()});
  const auto page = client->get({.url = server.url("/page"), .max_bytes = 10'000}, {});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("more than the 10000 bytes"));
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(HttpClient, row13_ends_an_endless_page) {
  server.serve("/page", "x");
  server.always("/page", Fault::endless_body());
  const auto page = client->get({.url = server.url("/page"), .max_bytes = 100'000}, {});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::source);
}

TEST_F(HttpClient, row10_follows_five_redirects_and_no_sixth) {
  server.serve("/5", "here");
  for (int i = 0; i < 5; ++i) {
    server.always(fmt::format("/{}", i), Fault::redirect(fmt::format("{}", i + 1), 301 + i % 2));
  }
  const auto page = get("/0");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->body, "here");
  EXPECT_EQ(page->final_url, server.url("/5"));
  server.always("/loop", Fault::redirect("/loop"));
  const auto loop = get("/loop");
  ASSERT_FALSE(loop);
  EXPECT_THAT(loop.error().message, HasSubstr("more than 5 redirects"));
  EXPECT_EQ(server.requests("/loop"), 6);
}

TEST_F(HttpClient, row10_refuses_redirects_to_other_protocols) {
  for (const char* target : {"ftp://127.0.0.1/x", "file:///etc/passwd", "http://example.com/plain",
                             "gopher://example.com/"}) {
    server.always("/x", Fault::redirect(target));
    const auto page = get("/x");
    ASSERT_FALSE(page) << target;
    EXPECT_THAT(page.error().message, HasSubstr("refused to follow a redirect")) << target;
    EXPECT_EQ(page.error().code, ErrorCode::source);
  }
  EXPECT_EQ(server.requests("/x"), 4); // and none of them was tried twice
}

TEST_F(HttpClient, row10_forwards_no_login_to_another_place) {
  FaultServer other;
  other.serve("/x", "there");
  server.always("/x", Fault::redirect(other.url("/x")));
  std::string url = server.url("/x");
  url.insert(url.find("127."), "user:geheim@");
  const auto page = client->get(
      {.url = url, .headers = {"Authorization: Bearer geheim", "Accept: text/plain"}}, {});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->body, "there");
  EXPECT_EQ(server.seen()[0].header("authorization"), "Bearer geheim");
  EXPECT_EQ(other.seen()[0].header("authorization"), "");
  EXPECT_EQ(other.seen()[0].header("accept"), "text/plain");
}

TEST_F(HttpClient, row10_keeps_a_login_within_one_place) {
  server.serve("/y", "there");
  server.always("/x", Fault::redirect(server.url("/y")));
  std::string url = server.url("/x");
  url.insert(url.find("127."), "user:geheim@");
  ASSERT_TRUE(client->get({.url = url}, {}));
  EXPECT_EQ(server.seen("/y")[0].header("authorization"),
            "Basic dXNlcjpnZWhlaW0="); // base64 of user:geheim
}

TEST_F(HttpClient, row18_refuses_plain_http_but_to_this_machine) {
  const auto page = client->get({.url = "http://example.com/simple/"}, {});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("plain http is not taken from example.com"));
  EXPECT_THAT(page.error().hint, HasSubstr("https"));
  for (const char* url : {"file:///etc/passwd", "ftp://example.com/", "nonsense", "https://"}) {
    EXPECT_FALSE(client->get({.url = url}, {})) << url;
  }
}

TEST_F(HttpClient, row42_shows_no_login_in_any_error) {
  std::string url = server.url("/x?token=geheim");
  url.insert(url.find("127."), "user:geheim@");
  FaultServer secure(FaultServer::Mode::tls);
  std::string untrusted = secure.url("/x");
  untrusted.insert(untrusted.find("127."), "user:geheim@");
  std::vector<std::string> urls{"http://user:geheim@example.com/", "ftp://user:geheim@example.com/",
                                "http://user:geheim@", "http://user:geheim@127.0.0.1:1/",
                                untrusted};
  for (const auto& fault :
       {Fault::status_of(403), Fault::portal(), Fault::redirect("http://user:geheim@example.com/"),
        Fault::redirect("/x?token=geheim"), Fault::retry_after(429, "0"), Fault::close_after(3)}) {
    server.serve("/x", "long enough");
    server.always("/x", fault);
    const auto page = client->get({.url = url, .headers = {"Accept: application/json"}}, {});
    ASSERT_FALSE(page);
    EXPECT_THAT(all_text(page.error()), Not(HasSubstr("geheim")));
  }
  for (const auto& bad : urls) {
    const auto page = client->get({.url = bad}, {});
    ASSERT_FALSE(page) << bad;
    EXPECT_THAT(all_text(page.error()), Not(HasSubstr("geheim")));
  }
}

TEST_F(HttpClient, row14_tries_again_after_a_broken_connection) {
  const std::string body(100'000, 'b');
  server.serve("/x", body);
  server.script("/x", {Fault::close_after(1000), Fault::reset_after(0),
                       Fault::claiming_length(200'000), Fault::no_answer()});
  const auto page = get("/x");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->body, body);
  EXPECT_EQ(server.requests("/x"), 5);
}

TEST_F(HttpClient, row14_tries_again_on_a_fresh_connection_after_an_answer_that_makes_no_sense) {
  server.serve("/x", "x");
  Fault senseless;
  senseless.headers = {"X-Long: " + std::string(200'000, 'h')};
  server.script("/x", {Fault::none(), senseless});
  ASSERT_TRUE(get("/x"));
  ASSERT_TRUE(get("/x"));
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[1].connection, seen[0].connection);
  EXPECT_NE(seen[2].connection, seen[1].connection);
  server.always("/x", senseless);
  const auto page = get("/x");
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("cannot be understood"));
}

TEST_F(HttpClient, row15_gives_up_on_a_server_that_stays_silent) {
  auto options = quick();
  options.attempts = 2;
  client = client_with(options);
  server.serve("/x", std::string(1000, 'b'));
  server.always("/x", Fault::stall_after(990));
  const auto page = get("/x");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::source);
  EXPECT_THAT(page.error().message, HasSubstr("too slow or silent"));
  EXPECT_EQ(server.requests("/x"), 2);
}

TEST_F(HttpClient, row17_answers_404_as_a_response_and_other_statuses_as_errors) {
  const auto missing = get("/none");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->status, 404);
  EXPECT_EQ(missing->body, "");
  server.always("/secret", Fault::status_of(403));
  const auto refused = get("/secret");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::source);
  EXPECT_THAT(refused.error().message, HasSubstr("status 403"));
  EXPECT_EQ(server.requests("/secret"), 1);
  EXPECT_EQ(server.requests("/none"), 1);
}

TEST_F(HttpClient, row17_waits_as_asked_and_ends) {
  const auto in_the_past = "Wed, 21 Oct 2015 07:28:00 GMT";
  server.serve("/x", "x");
  server.script("/x", {Fault::retry_after(429, "0"), Fault::retry_after(503, in_the_past),
                       Fault::retry_after(503, "soon")});
  EXPECT_TRUE(get("/x"));
  server.always("/y", Fault::retry_after(503, "0"));
  const auto busy = get("/y");
  ASSERT_FALSE(busy);
  EXPECT_THAT(busy.error().message, HasSubstr("status 503"));
  EXPECT_EQ(server.requests("/y"), limits::k_attempts);
}

TEST_F(HttpClient, row17_understands_a_date) {
  const auto tomorrow =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + 24h);
  char text[64];
  std::tm parts{};
  ASSERT_NE(::gmtime_r(&tomorrow, &parts), nullptr);
  ASSERT_GT(std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts), 0U);
  auto options = quick();
  options.attempts = 1;
  client = client_with(options);
  server.always("/x", Fault::retry_after(503, text));
  const auto busy = get("/x");
  ASSERT_FALSE(busy);
  EXPECT_THAT(busy.error().causes,
              ::testing::ElementsAre(::testing::MatchesRegex(".*asks to wait 86[34][0-9]+ s")));
}

TEST_F(HttpClient, row17_a_wait_of_a_day_can_be_interrupted) {
  server.always("/x", Fault::retry_after(429, "86400"));
  std::stop_source stop;
  const std::jthread later([&] {
    while (server.requests("/x") == 0) {
      std::this_thread::yield();
    }
    stop.request_stop();
  });
  const auto page = client->get({.url = server.url("/x")}, stop.get_token());
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::interrupted);
  EXPECT_EQ(server.requests("/x"), 1);
}

TEST_F(HttpClient, row17_names_a_portal) {
  server.always("/x", Fault::portal(511));
  const auto status = get("/x");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().hint, HasSubstr("captive portal"));
  EXPECT_EQ(server.requests("/x"), 1);
  server.always("/json", Fault::portal(200));
  const auto html = get("/json", {"Accept: application/vnd.pypi.simple.v1+json"});
  ASSERT_FALSE(html);
  EXPECT_THAT(html.error().hint, HasSubstr("captive portal"));
  EXPECT_TRUE(get("/json", {"Accept: application/json, text/html;q=0.1"}));
}

TEST_F(HttpClient, row19_a_stop_ends_a_stalled_request_within_a_second) {
  server.serve("/x", std::string(1000, 'b'));
  server.always("/x", Fault::stall_after(10));
  std::stop_source stop;
  std::chrono::steady_clock::time_point asked;
  const std::jthread later([&] {
    while (server.body_bytes("/x") < 10) {
      std::this_thread::yield();
    }
    asked = std::chrono::steady_clock::now();
    stop.request_stop();
  });
  const std::vector<Request> requests(3, Request{.url = server.url("/x")});
  const auto pages = client->get_all(requests, stop.get_token());
  EXPECT_LT(std::chrono::steady_clock::now() - asked, test::k_soon);
  for (const auto& page : pages) {
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, ErrorCode::interrupted);
  }
}

TEST_F(HttpClient, row16_takes_a_range_only_if_it_is_the_one_asked_for) {
  server.serve("/x", "0123456789");
  const Request request{.url = server.url("/x"), .range = std::pair(2, 5)};
  const auto part = client->get(request, {});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->body, "2345");
  for (const auto& fault :
       {Fault::whole_file(), Fault::range_off_by(1), Fault::status_of(206, "2345")}) {
    server.script("/x", {fault});
    const auto wrong = client->get(request, {});
    ASSERT_TRUE(wrong);
    EXPECT_TRUE(wrong->range_refused);
    EXPECT_EQ(wrong->body, "");
  }
  server.script("/x", {Fault::until_close(2)});
  EXPECT_EQ(client->get(request, {})->body, "2345"); // cut short, so asked again
}

TEST_F(HttpClient, asks_the_proxy_of_the_given_environment_alone) {
  server.serve("/simple/", "by proxy");
  auto options = quick();
  options.named = {"http://mirror.example.com", "http://example.com"};
  options.environment.set("http_proxy", server.url(""));
  client = client_with(options);
  const auto page = client->get({.url = "http://mirror.example.com/simple/"}, {});
  ASSERT_TRUE(page) << all_text(page.error());
  EXPECT_EQ(page->body, "by proxy");
  EXPECT_EQ(server.seen()[0].header("host"), "mirror.example.com");
}

TEST_F(HttpClient, goes_past_the_proxy_where_no_proxy_says_so) {
  server.serve("/x", "direct");
  auto options = quick();
  options.environment.set("HTTP_PROXY", "http://127.0.0.1:1");
  options.environment.set("NO_PROXY", "127.0.0.1");
  client = client_with(options);
  EXPECT_TRUE(get("/x"));
}

TEST_F(HttpClient, row18_says_that_the_proxy_wants_a_login) {
  server.always("example.com:443",
                Fault::status_of(407, "", {"Proxy-Authenticate: Basic realm=\"x\""}));
  server.always("/x", Fault::status_of(407, "", {"Proxy-Authenticate: Basic realm=\"x\""}));
  auto options = quick();
  options.named = {"http://mirror.example.com", "http://example.com"};
  options.environment.set("all_proxy", server.url(""));
  client = client_with(options);
  for (const char* url : {"https://example.com/x", "http://example.com/x"}) {
    const auto page = client->get({.url = url}, {});
    ASSERT_FALSE(page) << url;
    EXPECT_THAT(page.error().message, HasSubstr("status 407 from the proxy")) << url;
    EXPECT_THAT(page.error().hint, HasSubstr("https_proxy")) << url;
  }
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(HttpClient, speaks_plain_http_to_hosts_that_the_user_named_so_and_to_no_other) {
  server.serve("/x", "by proxy");
  auto options = quick();
  options.named = {"http://named.example.com:8080/simple", "https://secure.example.com/simple"};
  options.environment.set("http_proxy", server.url(""));
  client = client_with(options);
  EXPECT_TRUE(client->get({.url = "http://named.example.com/x"}, {}));
  for (const char* url : {"http://other.example.com/x", "http://secure.example.com/x",
                          "http://named.example.com.evil.example.com/x", "http://169.254.169.254/x",
                          "http://10.0.0.1/x", "http://[fe80::1]/x", "http://0.0.0.0/x"}) {
    const auto page = client->get({.url = url}, {});
    ASSERT_FALSE(page) << url;
    EXPECT_THAT(page.error().message, HasSubstr("plain http is not taken")) << url;
  }
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(HttpClient, follows_no_redirect_from_this_machine_to_plain_http_elsewhere) {
  for (const char* target : {"http://169.254.169.254/latest/", "http://metadata.example.com/",
                             "http://[fe80::1]/", "http://192.168.0.1/"}) {
    server.always("/x", Fault::redirect(target));
    const auto page = get("/x");
    ASSERT_FALSE(page) << target;
    EXPECT_THAT(all_text(page.error()), HasSubstr("plain http is not taken")) << target;
  }
}

TEST_F(HttpClient, follows_no_redirect_of_another_machine_to_this_one) {
  FaultServer proxy; // stands for another machine
  proxy.always("/x", Fault::redirect(server.url("/secret")));
  server.serve("/secret", "what listens here");
  auto options = quick();
  options.named = {"http://mirror.example.com/"};
  options.environment.set("http_proxy", proxy.url(""));
  options.environment.set("no_proxy", "127.0.0.1");
  client = client_with(options);
  EXPECT_FALSE(client->get({.url = "http://mirror.example.com/x"}, {}));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(HttpClient, tells_a_block_page_from_a_missing_login) {
  const std::string block = "<html><head><title>\x1b[31mAccess\n denied </title></head></html>";
  const auto hint_of = [&](Fault fault) {
    server.always("/x", std::move(fault));
    const auto page = get("/x", {"Accept: application/json"});
    EXPECT_FALSE(page);
    return page ? Error{} : page.error();
  };
  const auto blocked = hint_of(Fault::status_of(403, block, {"Content-Type: text/html"}));
  EXPECT_THAT(blocked.hint, Not(HasSubstr("password")));
  EXPECT_THAT(blocked.hint, HasSubstr("blocks"));
  EXPECT_THAT(all_text(blocked), HasSubstr("Access denied"));
  EXPECT_THAT(all_text(blocked), Not(HasSubstr("\x1b")));
  const auto plain = hint_of(Fault::status_of(403));
  EXPECT_THAT(plain.hint, Not(HasSubstr("password")));
  for (const int status : {401, 403}) {
    const auto asked =
        hint_of(Fault::status_of(status, block, {"WWW-Authenticate: Basic realm=\"x\""}));
    EXPECT_THAT(asked.hint, HasSubstr("user name and password")) << status;
  }
  EXPECT_THAT(hint_of(Fault::status_of(401)).hint, HasSubstr("user name and password"));
  EXPECT_THAT(hint_of(Fault::status_of(451)).hint, HasSubstr("legal"));
  EXPECT_THAT(hint_of(Fault::portal(511)).hint, HasSubstr("captive portal"));
}

TEST_F(HttpClient, says_that_a_login_in_the_address_was_not_taken) {
  server.always("/x", Fault::status_of(401, "", {"WWW-Authenticate: Basic realm=\"x\""}));
  std::string url = server.url("/x");
  url.insert(url.find("127."), "user:geheim@");
  const auto page = client->get({.url = url}, {});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().hint, HasSubstr("does not take the login"));
  EXPECT_THAT(all_text(page.error()), Not(HasSubstr("geheim")));
}

TEST_F(HttpClient, gives_up_a_page_that_drips_and_asks_once) {
  server.serve("/x", std::string(1'000'000, 'x'));
  server.always("/x", Fault::dripping(1ms)); // a thousand bytes a second never stall
  auto options = quick();
  options.stall = 60s;
  options.patience = 300ms;
  client = client_with(options);
  const auto page = get("/x");
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("too slow"));
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(HttpClient, keeps_no_more_of_all_pages_than_the_bound) {
  auto options = quick();
  options.pages_bytes = 250'000;
  client = client_with(options);
  std::vector<Request> requests;
  for (int i = 0; i < 6; ++i) { // each alone is allowed
    server.serve(fmt::format("/{}", i), std::string(60'000, ' '));
    requests.push_back({.url = server.url(fmt::format("/{}", i))});
  }
  const auto pages = client->get_all(requests, {});
  EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [](const auto& one) {
    return !one && one.error().message.find("together") != std::string::npos;
  }));
}

} // namespace
} // namespace cukit::http
