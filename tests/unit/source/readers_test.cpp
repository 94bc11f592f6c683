#include "source/ini.hpp"
#include "source/stated.hpp"
#include "source/toml.hpp"

#include <gtest/gtest.h>

namespace cukit::source {
namespace {

Ini ini(std::string_view text) {
  auto result = parse_ini(text, "pip.conf");
  EXPECT_TRUE(result) << text;
  return result ? *result : Ini{};
}

TomlValue toml(std::string_view text) {
  auto result = parse_toml(text, "uv.toml");
  EXPECT_TRUE(result) << text << " "
                      << (result ? "" : result.error().message + result.error().where);
  return result ? *result : TomlValue{};
}

// Expected values of the ini tests: Python 3.11's configparser.RawConfigParser.
TEST(Ini, an_indented_line_continues_and_a_comment_inside_does_not_end_it) {
  auto read = ini("[a]\nkey = one\n  two\n# note\n  three\nnext: 4\n");
  EXPECT_EQ(read["a"]["key"].text, "one\ntwo\nthree");
  EXPECT_EQ(read["a"]["next"].text, "4");
  EXPECT_EQ(read["a"]["next"].line, 6);
}

TEST(Ini, the_first_delimiter_counts) {
  auto read = ini("[a]\nkey = a:b=c\nother:x = y\n");
  EXPECT_EQ(read["a"]["key"].text, "a:b=c");
  EXPECT_EQ(read["a"]["other"].text, "x = y");
}

TEST(Ini, names_the_line_of_a_mistake) {
  EXPECT_EQ(parse_ini("[a]\nb=1\nb=2\n", "f").error().where, "f:3");
  EXPECT_EQ(parse_ini("\n\nb=1\n", "f").error().where, "f:3");
  EXPECT_EQ(parse_ini("[a]\n[a]\n", "f").error().where, "f:2");
  EXPECT_FALSE(parse_ini("[]\n", "f"));
  EXPECT_FALSE(parse_ini("[a]\n= 1\n", "f"));
}

// Expected values of the TOML tests: Python 3.11's tomllib.
TEST(Toml, reads_tables_arrays_and_every_kind_of_text) {
  const auto root =
      toml("a.b = \"x\\ty \\u00e9\"\nl = [ 'one', # note\n  \"two\", ]\n[t]\nk = '''\nlong\n"
           "text'''\nn = 1_000\n[[i]]\nz = {p = true, q.r = 'w'}\n[[i]]\n\"quoted key\" = ''\n");
  EXPECT_EQ(root.find("a")->find("b")->text, "x\ty \xc3\xa9");
  ASSERT_EQ(root.find("l")->items.size(), 2U);
  EXPECT_EQ(root.find("l")->items[1].text, "two");
  EXPECT_EQ(root.find("t")->find("k")->text, "long\ntext");
  EXPECT_EQ(root.find("t")->find("n")->text, "1000");
  ASSERT_EQ(root.find("i")->items.size(), 2U);
  EXPECT_EQ(root.find("i")->items[0].find("z")->find("q")->find("r")->text, "w");
  EXPECT_EQ(root.find("i")->items[1].find("quoted key")->text, "");
  EXPECT_EQ(root.find("t")->find("k")->line, 5);
}

TEST(Toml, refuses_what_tomllib_refuses) {
  for (const auto* text : {"a",
                           "a =",
                           "a = b",
                           "= 1",
                           "a = 'x",
                           "a = \"x\n\"",
                           "a = '''x",
                           "a = [1",
                           "a = [1 2]",
                           "a = {b = 1",
                           "a = {b = 1 c = 2}",
                           "[a",
                           "[[a]",
                           "[]",
                           "[a]\n[a]",
                           "a = 1\na = 2",
                           "a = 1\n[a]",
                           "[a]\nb = 1\n[a.b]",
                           "a = []\n[[a]]",
                           "[[a]]\n[a]",
                           "a = {}\n[a]",
                           "a = {}\na.b = 1",
                           "a = 1 b = 2",
                           "a = \"\\q\"",
                           "a = \"\\ud800\"",
                           "a = \"\\U00110000\"",
                           "a.b = 1\na.b = 2",
                           "\xff = 1"}) {
    EXPECT_FALSE(parse_toml(text, "f")) << text;
  }
}

TEST(Toml, depth_is_bounded) {
  EXPECT_FALSE(parse_toml("a = " + std::string(100'000, '['), "f"));
  EXPECT_FALSE(parse_toml("a = " + std::string(100'000, '{'), "f"));
}

TEST(Address, turns_file_urls_and_relative_paths_into_folders) {
  EXPECT_EQ(address("file:///srv/my%20wheels/", "x", "/base")->location, "/srv/my wheels");
  EXPECT_EQ(address("file://localhost/srv", "x", "/base")->location, "/srv");
  EXPECT_EQ(address("../wheels", "x", "/base/folder")->location, "/base/wheels");
  EXPECT_EQ(address("/", "x", "/base")->location, "/");
  EXPECT_EQ(address("HTTPS://mirror.example.com/Simple//", "x", "/base")->location,
            "https://mirror.example.com/Simple");
  EXPECT_FALSE(address("file:///srv%00/x", "x", "/base"));
  EXPECT_FALSE(address("", "x", "/base"));
}

TEST(Truth, knows_pythons_words) {
  EXPECT_EQ(truth(" Yes "), true);
  EXPECT_EQ(truth("off"), false);
  EXPECT_EQ(truth("maybe"), std::nullopt);
}

} // namespace
} // namespace cukit::source
