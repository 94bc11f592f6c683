// What cukit writes as YAML is read back as the same text.
#include "text/node.hpp"
#include "text/yaml_write.hpp"

#include <gtest/gtest.h>

namespace cukit::text {
namespace {

class YamlWrite : public testing::TestWithParam<std::string> {};

TEST_P(YamlWrite, comes_back_as_it_was) {
  const auto& text = GetParam();
  const auto file = "key: {inner: " + yaml_item(text) + "}\nlist: " + yaml_list({text, "b"}) +
                    "\nquoted: " + yaml_quoted(text) + "\n";
  const auto root = parse_yaml(file, "file");
  ASSERT_TRUE(root) << root.error().message << "\n" << file;
  ASSERT_EQ(root->members.size(), 3U) << file;
  EXPECT_EQ(root->find("key")->find("inner")->scalar, text) << file;
  EXPECT_EQ(root->find("list")->items.at(0).scalar, text) << file;
  EXPECT_EQ(root->find("quoted")->scalar, text) << file;
  if (!text.empty()) {
    EXPECT_EQ(parse_yaml("a: " + yaml_scalar(text) + "\n", "file")->find("a")->scalar, text);
  }
}

INSTANTIATE_TEST_SUITE_P(all, YamlWrite,
                         testing::Values("/opt/venv", "", "a b", "/v\nhost: {compiler: /x}",
                                         "\"quoted\"", "back\\slash", "null", "13.10", "a: b",
                                         "# no comment", "{", "]", "&anchor", "*alias", "!tag", "%",
                                         "-", "'", "tab\t", "\x1b[0m", "\xc3\xa9",
                                         "\xe2\x80\xae"
                                         "bidi",
                                         "\xc2\x85", "\xf0\x9f\x98\x80"));

} // namespace
} // namespace cukit::text
