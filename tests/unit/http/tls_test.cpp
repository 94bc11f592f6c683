#include "base/files.hpp"
#include "http/client.hpp"
#include "support/fault_server.hpp"

#include <gmock/gmock.h>

namespace cukit::http {
namespace {

using test::Fault;
using test::FaultServer;
using ::testing::HasSubstr;

class HttpsClient : public ::testing::Test {
protected:
  Result<Response> get(const FaultServer& server, const std::string& trusted,
                       const char* variable = "CUKIT_CA_BUNDLE") {
    EXPECT_TRUE(write_file_atomic(file(), trusted));
    Options options;
    options.first_delay = std::chrono::milliseconds(1);
    options.environment.set(variable, file().string());
    auto client = Client::create(options);
    EXPECT_TRUE(client);
    return (*client)->get({.url = server.url("/x")}, {});
  }
  [[nodiscard]] fs::path file() const { return folder->path() / "authority.pem"; }
  Result<TempDirectory> folder = TempDirectory::create(::testing::TempDir(), "tls");
};

TEST_F(HttpsClient, trusts_the_authority_that_a_variable_names) {
  FaultServer server(FaultServer::Mode::tls);
  server.serve("/x", "secret");
  for (const char* variable :
       {"CUKIT_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT"}) {
    const auto page = get(server, server.authority(), variable);
    ASSERT_TRUE(page) << variable << page.error().message;
    EXPECT_EQ(page->body, "secret");
  }
}

TEST_F(HttpsClient, row18_refuses_bad_certificates_once_and_names_the_variables) {
  const FaultServer stranger(FaultServer::Mode::tls);
  for (const auto mode : {FaultServer::Mode::tls, FaultServer::Mode::tls_expired,
                          FaultServer::Mode::tls_wrong_host}) {
    FaultServer server(mode);
    server.serve("/x", "secret");
    const auto page =
        get(server, mode == FaultServer::Mode::tls ? stranger.authority() : server.authority());
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, ErrorCode::source);
    EXPECT_THAT(page.error().message, HasSubstr("is not trusted"));
    EXPECT_THAT(page.error().hint, HasSubstr("CUKIT_CA_BUNDLE"));
    EXPECT_EQ(server.requests(), 0);
  }
}

TEST_F(HttpsClient, row18_says_why_a_certificate_is_not_trusted) {
  FaultServer expired(FaultServer::Mode::tls_expired);
  EXPECT_THAT(get(expired, expired.authority()).error().causes,
              ::testing::ElementsAre(HasSubstr("expired")));
  FaultServer elsewhere(FaultServer::Mode::tls_wrong_host);
  EXPECT_THAT(get(elsewhere, elsewhere.authority()).error().causes,
              ::testing::ElementsAre(HasSubstr("matches target host name")));
}

TEST_F(HttpsClient, row18_does_not_speak_an_old_tls) {
  FaultServer server(FaultServer::Mode::tls_old);
  const auto page = get(server, server.authority());
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("TLS 1.2 or newer"));
}

TEST_F(HttpsClient, row10_refuses_a_redirect_from_https_to_http_even_here) {
  FaultServer plain;
  plain.serve("/x", "plain");
  FaultServer server(FaultServer::Mode::tls);
  server.always("/x", Fault::redirect(plain.url("/x")));
  const auto page = get(server, server.authority());
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("refused to follow a redirect"));
  EXPECT_EQ(plain.requests(), 0);
}

TEST(HttpClientCreate, names_the_variable_whose_certificates_are_missing) {
  Options options;
  options.environment.set("SSL_CERT_FILE", "/nowhere/at/all.pem");
  const auto client = Client::create(options);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::host);
  EXPECT_THAT(client.error().message, HasSubstr("SSL_CERT_FILE"));
}

} // namespace
} // namespace cukit::http
