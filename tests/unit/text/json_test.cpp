#include "base/limits.hpp"
#include "text/json.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::text {
namespace {

using ::testing::HasSubstr;

TEST(Json, reads_every_kind) {
  const auto json = Json::parse(
      R"({"n":null,"b":true,"i":-9223372036854775808,"r":1.5,"s":"\u00e9\n","l":[1,2],"o":{}})",
      "x");
  ASSERT_TRUE(json.has_value());
  EXPECT_TRUE(json->find("n")->is(Json::Kind::null));
  EXPECT_TRUE(json->find("b")->boolean());
  EXPECT_EQ(json->find("i")->integer(), INT64_MIN);
  EXPECT_EQ(json->find("r")->real(), 1.5);
  EXPECT_EQ(json->text_of("s"), "\xc3\xa9\n");
  EXPECT_EQ(json->find("l")->items().size(), 2U);
  EXPECT_TRUE(json->find("o")->is(Json::Kind::object));
  EXPECT_EQ(json->find("x"), nullptr);
  EXPECT_EQ(json->text_of("i"), "");
  EXPECT_EQ(json->find("i")->find("x"), nullptr);
}

TEST(Json, keeps_integers_exact_and_never_wraps) {
  EXPECT_EQ(Json::parse("9007199254740993", "x")->integer(), 9007199254740993);
  EXPECT_TRUE(Json::parse("9223372036854775807", "x")->is(Json::Kind::integer));
  EXPECT_TRUE(Json::parse("9223372036854775808", "x")->is(Json::Kind::real));
  EXPECT_TRUE(Json::parse("18446744073709551616", "x")->is(Json::Kind::real));
  EXPECT_TRUE(Json::parse("1.0", "x")->is(Json::Kind::real));
  EXPECT_TRUE(Json(std::uint64_t{1} << 63U).is(Json::Kind::real));
}

struct Refused {
  std::string text;
  const char* message;
};

TEST(Json, refuses_with_the_name_and_the_place) {
  const std::string deep(static_cast<std::size_t>(limits::k_json_depth) + 1, '[');
  const Refused cases[] = {
      {R"({"a":1,"b":{"a":1,"a":2}})", "key `a` stands twice in one object"},
      {"{\n\"a\" 1}", "line 2, column 5"},
      {"[1] [2]", "line 1, column 5"},
      {"", "line 1, column 1"},
      {"\"\xff\"", "not UTF-8 at offset 1"},
      {std::string("1\0", 2), "NUL at offset 1"},
      {"\"\\ud800\"", "surrogate"},
      {"1e999", "not valid JSON: number overflow parsing '1e999' (at line 1, column 5)"},
      {deep + std::string(deep.size(), ']'), "more than 64 levels"},
  };
  for (const auto& [text, message] : cases) {
    const auto json = Json::parse(text, "page");
    ASSERT_FALSE(json.has_value()) << text;
    EXPECT_EQ(json.error().code, ErrorCode::source);
    EXPECT_EQ(json.error().where, "page");
    EXPECT_THAT(json.error().message, HasSubstr(message)) << text;
  }
}

TEST(Json, takes_the_limit_of_depth) {
  const auto depth = static_cast<std::size_t>(limits::k_json_depth);
  EXPECT_TRUE(Json::parse(std::string(depth, '[') + std::string(depth, ']'), "x").has_value());
}

TEST(JsonDump, keeps_the_order_and_indents_by_two) {
  const auto json = Json::object()
                        .set("z", 1)
                        .set("a", Json::list().add("x").add(Json::object().set("k", true)))
                        .set("e", Json::list())
                        .set("o", Json::object())
                        .set("n", Json());
  EXPECT_EQ(json.dump(), "{\n  \"z\": 1,\n  \"a\": [\n    \"x\",\n    {\n      \"k\": true\n    "
                         "}\n  ],\n  \"e\": [],\n"
                         "  \"o\": {},\n  \"n\": null\n}");
  EXPECT_EQ(json.dump(false), R"({"z":1,"a":["x",{"k":true}],"e":[],"o":{},"n":null})");
}

TEST(JsonDump, escapes_what_drives_terminals) {
  EXPECT_EQ(Json("a\"b\\c\n\t\x1b[31m\x7f\xc2\x9b").dump(),
            R"("a\"b\\c\n\t\u001b[31m\u007f\u009b")");
}

TEST(JsonDump, replaces_what_is_not_utf8) {
  EXPECT_EQ(Json("a\xff\xc3 \xe2\x82").dump(),
            "\"a\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(Json("\xe2\x82\xac").dump(), "\"\xe2\x82\xac\"");
}

TEST(JsonDump, writes_reals_that_come_back_as_reals) {
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(1e300).dump(), "1e+300");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

} // namespace
} // namespace cukit::text
