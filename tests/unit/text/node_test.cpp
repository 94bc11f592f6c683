#include "base/limits.hpp"
#include "text/fields.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sys/resource.h>

namespace cukit::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Node read(std::string_view text) {
  auto node = parse_yaml(text, "f.yaml");
  EXPECT_TRUE(node.has_value()) << text << "\n" << (node ? "" : node.error().message);
  return node ? *std::move(node) : Node();
}

TEST(Yaml, gives_the_line_and_column_of_every_node) {
  const auto root = read("a: 1\n\nlist:\n  - x\n  - {k: v}\n");
  EXPECT_EQ(root.at, (Position{1, 1}));
  EXPECT_EQ(root.find("a")->at, (Position{1, 4}));
  const auto* list = root.find("list");
  ASSERT_TRUE(list->is_list());
  EXPECT_EQ(list->items[0].at, (Position{4, 5}));
  EXPECT_EQ(list->items[1].members[0].first.at, (Position{5, 6}));
  EXPECT_EQ(list->items[1].find("k")->at, (Position{5, 9}));
}

TEST(Yaml, counts_columns_in_characters) {
  EXPECT_EQ(read("{größe: ä, b: c}\n").find("b")->at, (Position{1, 15}));
}

TEST(Yaml, row04_keeps_plain_scalars_as_text) {
  const auto root = read("a: 13.10\nb: no\nc: 012\nd: 1e3\ne: 2026-11-30\nf: \"null\"\ng: ~\nh:\n");
  EXPECT_EQ(root.find("a")->scalar, "13.10");
  EXPECT_EQ(root.find("b")->scalar, "no");
  EXPECT_EQ(root.find("c")->scalar, "012");
  EXPECT_EQ(root.find("d")->scalar, "1e3");
  EXPECT_EQ(root.find("e")->scalar, "2026-11-30");
  EXPECT_TRUE(root.find("f")->is_scalar());
  EXPECT_TRUE(root.find("f")->quoted);
  EXPECT_TRUE(root.find("g")->is_empty());
  EXPECT_TRUE(root.find("h")->is_empty());
  EXPECT_EQ(root.find("h")->at, (Position{8, 1})) << "a missing value is where its key is";
  EXPECT_EQ(root.find("z"), nullptr);
}

TEST(Yaml, row05_takes_byte_order_mark_and_crlf) {
  const auto root = read("\xef\xbb\xbf"
                         "a: 1\r\nb: 2\r\n");
  EXPECT_EQ(root.find("b")->scalar, "2");
  EXPECT_EQ(root.find("b")->at, (Position{2, 4}));
}

TEST(Yaml, an_empty_text_is_an_empty_node) {
  EXPECT_TRUE(read("").is_empty());
  EXPECT_TRUE(read("# nothing\n").is_empty());
  EXPECT_TRUE(read("---\n").is_empty());
}

struct Refused {
  const char* text;
  const char* where;
  const char* message;
};

TEST(Yaml, row03_refuses_with_the_place_and_a_hint) {
  const Refused cases[] = {
      {"a: &x 1\n", "f.yaml:1:4", "anchors (`&name`) are not taken"},
      {"&x a: 1\n", "f.yaml:1:1", "anchors (`&name`) are not taken"},
      {"a: [&x b]\n", "f.yaml:1:5", "anchors (`&name`) are not taken"},
      {"a: &x [*x]\n", "f.yaml:1:4", "anchors (`&name`) are not taken"},
      {"a: !!str 1\n", "f.yaml:1:4", "tags (`!name`) are not taken"},
      {"a: ! 1\n", "f.yaml:1:4", "tags (`!name`) are not taken"},
      {"a: !x {b: c}\n", "f.yaml:1:4", "tags (`!name`) are not taken"},
      {"<<: {b: c}\n", "f.yaml:1:1", "merge keys (`<<`) are not taken"},
      {"a: 1\nb: 2\n'a': 3\n", "f.yaml:3:1", "key `a` stands twice, first at line 1, column 1"},
      {"x: {a: 1, b: {c: 1, c: 2}}\n", "f.yaml:1:21",
       "key `c` stands twice, first at line 1, column 15"},
      {"a: 1\n---\nb: 2\n", "f.yaml:2:1", "a second document begins here"},
      {"a: 1\n...\n---\n", "f.yaml:3:1", "a second document begins here"},
      {"? [a]\n: b\n", "f.yaml:1:3", "a list or map cannot be a key"},
      {"~: b\n", "f.yaml:1:1", "a key is missing"},
      {"a: \"b\nc: d\n", "f.yaml:1:4", "this quote is never closed"},
      {"a: 'it''s\n", "f.yaml:1:4", "this quote is never closed"},
      {"a: \"b\\\"\n", "f.yaml:1:4", "this quote is never closed"},
      {"a:\n\tb: c\n", "f.yaml:2:1", "a tab is used as indentation"},
      {"a:\n  b: c\n \td: e\n", "f.yaml:3:2", "a tab is used as indentation"},
      {"a: \xff\n", "f.yaml:1:4", "not UTF-8: byte 0xff at offset 3"},
      {"a: \xc0\xaf\n", "f.yaml:1:4", "not UTF-8: byte 0xc0 at offset 3"},
      {"a: b\x04 c: d\n", "f.yaml:1:5", "control character 0x04 at offset 4"},
      {"a: b\rc: d\n", "f.yaml:1:5", "a carriage return without a line feed"},
  };
  for (const auto& [text, where, message] : cases) {
    const auto result = parse_yaml(text, "f.yaml");
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::usage) << text;
    EXPECT_EQ(result.error().where, where) << text << result.error().message;
    EXPECT_EQ(result.error().message, message) << text;
    EXPECT_FALSE(result.error().hint.empty()) << text;
  }
}

TEST(Yaml, row05_refuses_nul_bytes) {
  const auto result = parse_yaml(std::string_view("a: b\0c\n", 7), "f.yaml");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "control character 0x00 at offset 4");
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + "x" +
         std::string(static_cast<std::size_t>(depth), ']') + "\n";
}

TEST(Yaml, takes_the_limit_of_depth_and_not_one_more) {
  EXPECT_TRUE(parse_yaml(nested(limits::k_yaml_depth), "f.yaml").has_value());
  const auto result = parse_yaml(nested(limits::k_yaml_depth + 1), "f.yaml");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "more than 64 levels inside each other");
}

TEST(Yaml, row01_refuses_very_deep_text_with_its_place) {
  for (const auto* part : {"[", "{", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) {
      text += part;
    }
    const auto result = parse_yaml(text, "f.yaml");
    ASSERT_FALSE(result.has_value()) << part;
    EXPECT_EQ(result.error().code, ErrorCode::usage) << part;
    EXPECT_THAT(result.error().where, ::testing::StartsWith("f.yaml:1:")) << part;
  }
}

TEST(Yaml, row02_refuses_an_alias_bomb_and_a_value_inside_itself_at_the_first_anchor) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    bomb += fmt::format("a{}: &a{} [*a{}, *a{}, *a{}, *a{}]\n", i, i, i - 1, i - 1, i - 1, i - 1);
  }
  for (const auto& [text, where] : {std::pair<std::string, std::string>{bomb, "f.yaml:1:5"},
                                    {"a: &a\n  - *a\n", "f.yaml:1:4"},
                                    {"a: &a {b: *a}\n", "f.yaml:1:4"},
                                    {"a: *nobody\n", "f.yaml:1:4"}}) {
    const auto result = parse_yaml(text, "f.yaml");
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().where, where) << text;
  }
}

/// Peak memory of this process so far, in kB.
long peak_kilobytes() {
  struct rusage usage {};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss;
}

TEST(Yaml, row06_malformed_block_scalars_end_with_an_error_in_little_memory) {
  const auto before = peak_kilobytes();
  for (const auto* text :
       {"a: |x\n  b\n", "a: |99\n  b\n", "a: |0\n b\n", "a: >-+\n  b\n", "a: |2\n b\nc: d\n",
        "- k: v\n  folded:\n    (one and (\n\"two\",\n    \"three\"\n    )  )  \n    ",
        "a: |\n  b\n c\nd: e\n", "a: | b\n  c\n"}) {
    EXPECT_FALSE(parse_yaml(text, "f.yaml").has_value()) << text;
  }
  EXPECT_LT(peak_kilobytes() - before, 64 * 1024);
}

TEST(Yaml, row03_finds_a_duplicate_among_many_keys) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += fmt::format("k{}: v\n", i);
  }
  EXPECT_EQ(read(text).members.size(), 20'000U);
  const auto result = parse_yaml(text + "k77: v\n", "f.yaml");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "key `k77` stands twice, first at line 78, column 1");
  EXPECT_EQ(result.error().where, "f.yaml:20001:1");
}

TEST(Mistakes, come_sorted_by_place) {
  Mistakes mistakes("f.yaml");
  EXPECT_TRUE(mistakes.empty());
  mistakes.add({3, 1}, "late");
  mistakes.add({1, 9}, "early", "do this");
  const auto error = std::move(mistakes).error();
  EXPECT_EQ(error.message, "2 mistakes in f.yaml");
  EXPECT_THAT(error.causes, ElementsAre("f.yaml:1:9: early; do this", "f.yaml:3:1: late"));
}

TEST(Mistakes, one_alone_is_the_error) {
  Mistakes mistakes("f.yaml");
  mistakes.add({2, 0}, "wrong", "do that");
  const auto error = std::move(mistakes).error(ErrorCode::integrity);
  EXPECT_EQ(error.code, ErrorCode::integrity);
  EXPECT_EQ(error.where, "f.yaml:2");
  EXPECT_EQ(error.message, "wrong");
  EXPECT_EQ(error.hint, "do that");
}

TEST(Fields, reports_what_nobody_asked_for) {
  const auto root = read("alpha: 1\nbetta: 2\n");
  Mistakes mistakes("f.yaml");
  {
    Fields fields(root, mistakes, "the file");
    EXPECT_EQ(fields.text_or_empty("alpha"), "1");
    EXPECT_EQ(fields.text_or_empty("beta"), "");
  }
  const auto error = std::move(mistakes).error();
  EXPECT_EQ(error.where, "f.yaml:2:1");
  EXPECT_EQ(error.message, "the file has no key `betta`");
  EXPECT_EQ(error.hint, "did you mean `beta`?");
}

TEST(Fields, collects_wrong_kinds) {
  const auto root = read("a: [x]\nb: {c: d}\nc:\nd: [x, [y]]\ne: 1\n");
  Mistakes mistakes("f.yaml");
  {
    Fields fields(root, mistakes, "the file");
    EXPECT_EQ(fields.text("a"), nullptr);
    EXPECT_TRUE(fields.texts("b").empty());
    EXPECT_EQ(fields.take("c"), nullptr);
    EXPECT_EQ(fields.strings("d"), std::vector<std::string>{"x"});
    EXPECT_TRUE(fields.pairs("e").empty());
    EXPECT_EQ(fields.required_text("f"), "");
  }
  EXPECT_THAT(std::move(mistakes).error().causes,
              ElementsAre(HasSubstr("1:1: the file lacks `f`"),
                          HasSubstr("1:4: `a` must be text, but here is a list"),
                          HasSubstr("2:4: `b` must be a list, but here is keys"),
                          HasSubstr("3:1: `c` has no value"), HasSubstr("4:8: `d` must hold texts"),
                          HasSubstr("5:4: `e` must hold keys with values")));
}

} // namespace
} // namespace cukit::text
