#include "archive/record.hpp"
#include "support/archive_forge.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::archive {
namespace {

using testing::HasSubstr;

// `printf abc | sha256sum`, and the same in urlsafe base64 by Python's base64 module.
constexpr std::string_view k_abc_hex =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view k_abc_base64 = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";

std::string message(std::string_view text) {
  const auto rows = parse_record(text);
  return rows ? "" : rows.error().message;
}

TEST(DecodeDigest, knows_the_urlsafe_alphabet) {
  const auto digest = decode_digest(k_abc_base64);
  ASSERT_TRUE(digest);
  EXPECT_EQ(digest->hex(), k_abc_hex);
}

TEST(DecodeDigest, refuses_other_lengths_alphabets_and_spellings) {
  EXPECT_FALSE(decode_digest(""));
  EXPECT_FALSE(decode_digest(k_abc_hex));
  EXPECT_FALSE(decode_digest(std::string(k_abc_base64) + "="));
  EXPECT_FALSE(decode_digest("ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"));
  // 0, 1, 2 and 3 as the last two bits would be the same digest
  EXPECT_FALSE(decode_digest("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa1"));
}

TEST(ParseRecord, reads_rows_with_and_without_quotes) {
  const auto digest = "sha256=" + std::string(k_abc_base64);
  const auto rows =
      parse_record("a.py," + digest + ",3\r\n\"odd, \"\"name\"\"\"," + digest + ",\n\nx/RECORD,,");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].path.text(), "a.py");
  EXPECT_EQ((*rows)[0].sha256->hex(), k_abc_hex);
  EXPECT_EQ((*rows)[0].size, 3U);
  EXPECT_EQ((*rows)[1].path.text(), "odd, \"name\"");
  EXPECT_EQ((*rows)[1].size, std::nullopt);
  EXPECT_EQ((*rows)[2].path.text(), "x/RECORD");
  EXPECT_FALSE((*rows)[2].sha256);
}

TEST(ParseRecord, names_the_line_of_a_mistake) {
  EXPECT_THAT(message("a,,\nb,,3x\n"), HasSubstr("line 2: a size that is no number"));
  EXPECT_THAT(message("a,,-1\n"), HasSubstr("a size that is no number"));
  EXPECT_THAT(message("a,\n"), HasSubstr("line 1: not path, digest and size"));
  EXPECT_THAT(message("a,,,\n"), HasSubstr("not path, digest and size"));
  EXPECT_THAT(message("../a,,\n"), HasSubstr("line 1: the path `../a`"));
  EXPECT_THAT(message("/a,,\n"), HasSubstr("is absolute"));
  EXPECT_THAT(message(",,\n"), HasSubstr("is empty"));
  EXPECT_THAT(message("\"a,,\n"), HasSubstr("a quote is never closed"));
  EXPECT_THAT(message("\"a\"b,,\n"), HasSubstr("text after a closing quote"));
  EXPECT_THAT(message("a\"b,,\n"), HasSubstr("a quote inside a field"));
  EXPECT_THAT(message("a,md5=abc,\n"), HasSubstr("a digest that is no sha256"));
  EXPECT_THAT(message("a,sha256=abc,\n"), HasSubstr("not 43 characters"));
  EXPECT_THAT(message("a\r,,\n"), HasSubstr("control character"));
}

} // namespace
} // namespace cukit::archive
