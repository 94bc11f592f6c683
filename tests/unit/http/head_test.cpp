#include "http/client.hpp"
#include "http/head.hpp"

#include <gtest/gtest.h>

namespace cukit::http {
namespace {

TEST(ContentRange, takes_what_rfc_9110_allows) {
  const auto range = parse_content_range("bytes 42-1233/1234");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 42U);
  EXPECT_EQ(range->last, 1233U);
  EXPECT_EQ(range->total, 1234U);
  const auto open = parse_content_range("bytes 42-1233/*");
  ASSERT_TRUE(open);
  EXPECT_FALSE(open->total);
}

TEST(ContentRange, refuses_numbers_that_contradict_each_other) {
  for (const char* text :
       {"", "bytes", "bytes */1234", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-9", "bytes -9/10",
        "bytes 0-/10", "items 0-9/10", "bytes 0-9/x", "bytes +0-9/10",
        "bytes 0-99999999999999999999/*", "bytes 0/9-10", "bytes 0-9/10, 20-29/30"}) {
    EXPECT_FALSE(parse_content_range(text)) << text;
  }
}

TEST(StrongEtag, is_quoted_and_not_weak) {
  EXPECT_TRUE(is_strong_etag("\"abc\""));
  EXPECT_TRUE(is_strong_etag("\"\""));
  for (const char* text : {"", "\"", "abc", "W/\"abc\"", "\"a\"b\"", "\"abc"}) {
    EXPECT_FALSE(is_strong_etag(text)) << text;
  }
}

TEST(Head, begins_anew_with_each_status_line) {
  Head head;
  head.take_line("HTTP/1.1 100 Continue\r\n");
  head.take_line("ETag: \"early\"\r\n");
  head.take_line("HTTP/2 206\r\n");
  head.take_line("content-TYPE: Text/HTML; charset=UTF-8\r\n");
  head.take_line("Content-Range: bytes 1-2/30\r\n");
  head.take_line("Content-Length: 2\r\n");
  EXPECT_EQ(head.status, 206);
  EXPECT_EQ(head.etag, "");
  EXPECT_EQ(head.content_type, "text/html");
  EXPECT_EQ(head.total(), 30U);
}

TEST(Head, does_not_take_the_length_of_a_packed_body_for_the_file) {
  Head head;
  head.take_line("HTTP/1.1 200 OK");
  head.take_line("Content-Encoding: gzip");
  head.take_line("Content-Length: 2");
  EXPECT_FALSE(head.total());
}

} // namespace
} // namespace cukit::http
