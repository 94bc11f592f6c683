#include "http/client.hpp"
#include "http/url.hpp"

#include <gtest/gtest.h>

namespace cukit::http {
namespace {

// The examples of RFC 3986, 5.4.1 and 5.4.2, over http because nothing else is joined.
TEST(ResolveUrl, agrees_with_the_examples_of_rfc_3986) {
  const std::string base = "http://a/b/c/d;p?q";
  const std::pair<const char*, const char*> cases[] = {
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y#s"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/../x", "http://a/b/c/g#s/../x"},
  };
  for (const auto& [link, expected] : cases) {
    const auto joined = resolve_url(base, link);
    ASSERT_TRUE(joined) << link;
    EXPECT_EQ(*joined, expected) << link;
  }
}

TEST(ResolveUrl, keeps_the_digest_of_a_simple_page) {
  EXPECT_EQ(*resolve_url("https://index.example.com/simple/nvidia-nvvm/",
                         "../../files/nvidia_nvvm-13.0.88-py3-none-any.whl#sha256=ab"),
            "https://index.example.com/files/nvidia_nvvm-13.0.88-py3-none-any.whl#sha256=ab");
}

TEST(ResolveUrl, refuses_to_leave_https) {
  const auto down = resolve_url("https://example.com/a", "http://example.com/b");
  ASSERT_FALSE(down);
  EXPECT_NE(down.error().message.find("plain http"), std::string::npos);
  for (const char* link :
       {"ftp://example.com/b", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x"}) {
    EXPECT_FALSE(resolve_url("https://example.com/a", link)) << link;
  }
}

TEST(ResolveUrl, tells_no_password) {
  const auto down =
      resolve_url("https://example.com/a", "http://user:geheim@example.com/b?token=geheim");
  ASSERT_FALSE(down);
  EXPECT_EQ(down.error().message.find("geheim"), std::string::npos);
}

TEST(UrlFileName, is_decoded_and_without_query) {
  EXPECT_EQ(url_file_name("https://example.com/a/torch-2.11.0%2Bcu130-py3.whl?x=/y#sha256=1"),
            "torch-2.11.0+cu130-py3.whl");
  EXPECT_EQ(url_file_name("https://example.com/a/"), "");
  EXPECT_EQ(url_file_name("https://example.com"), "");
}

TEST(UrlFileName, never_holds_a_slash_or_nul) {
  EXPECT_EQ(url_file_name("https://example.com/..%2F..%2Fetc%2Fpasswd"), "..%2F..%2Fetc%2Fpasswd");
  EXPECT_EQ(url_file_name("https://example.com/a%00.whl"), "a%00.whl");
  EXPECT_EQ(url_file_name("https://example.com/100%.whl"), "100%.whl");
}

TEST(IsLoopback, knows_every_spelling_of_this_machine_and_no_other) {
  for (const char* url :
       {"http://127.0.0.1/", "http://127.9.8.7:80/", "http://localhost:8080/x", "http://[::1]:1/",
        "http://LOCALHOST/", "http://user:pw@127.0.0.1/", "http://2130706433/"}) {
    EXPECT_TRUE(is_loopback(std::string(url))) << url;
  }
  for (const char* url :
       {"http://127.0.0.1.example.com/", "http://127.0.0.1@example.com/",
        "http://example.com/127.0.0.1", "http://localhost.example.com/", "http://128.0.0.1/",
        "http://127.0.0.1.1/", "http://10.0.0.1/", "nonsense", ""}) {
    EXPECT_FALSE(is_loopback(std::string(url))) << url;
  }
}

TEST(WithLoginOf, hands_a_login_to_the_same_place_alone) {
  const std::string from = "https://user:p%40ss@example.com/simple/";
  EXPECT_EQ(place_of(with_login_of(from, "https://example.com/x"))->host, "example.com");
  EXPECT_NE(with_login_of(from, "https://example.com/x").find("user:p%40ss@"), std::string::npos);
  for (const char* other :
       {"https://files.example.com/x", "https://example.com:8443/x", "http://example.com/x"}) {
    EXPECT_EQ(with_login_of(from, other), other);
  }
}

TEST(ResolveUrl, leads_from_no_other_machine_to_this_one) {
  for (const char* link : {"http://127.0.0.1:6379/x", "http://localhost/x", "http://[::1]/x",
                           "//127.0.0.1/x", "http://2130706433/x"}) {
    EXPECT_FALSE(resolve_url("http://mirror.example.com/simple/x/", link)) << link;
    EXPECT_TRUE(resolve_url("http://localhost:8080/simple/x/", link)) << link;
  }
  EXPECT_FALSE(resolve_url("https://mirror.example.com/simple/", "http://mirror.example.com/x"));
}

} // namespace
} // namespace cukit::http
