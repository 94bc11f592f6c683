#include "corpus.hpp"
#include "text/json.hpp"
#include "text/node.hpp"

#include <gtest/gtest.h>

namespace cukit::text {
namespace {

std::string bytes_of(const std::string& corpus, const std::string& file) {
  auto bytes = read_file(test::corpus(corpus) / file, 64U << 20U);
  EXPECT_TRUE(bytes.has_value()) << file;
  return bytes.value_or("");
}

// The parser's own laxness: these read as one document though the grammar forbids them. What they
// become is harmless (no tag, no anchor, no second document); the modules above refuse the shapes.
bool parser_is_lax(const test::CorpusRow& row) {
  return row.reason.find("yaml-cpp 0.7.0 reads it as one document") != std::string::npos ||
         row.reason.find("yaml-cpp 0.7.0 reads it as no document") != std::string::npos;
}

// Valid YAML whose keys are a map or nothing: cukit's files know only text as keys.
bool has_a_key_that_is_no_text(const std::string& file) {
  return file == "suite-valid/CFD4.yaml" || file == "suite-valid/V9D5.yaml";
}

TEST(YamlCorpus, syntax_verdicts_hold) {
  const auto rows = test::corpus_rows("yaml");
  EXPECT_FALSE(rows.empty());
  for (const auto& row : rows) {
    const auto node = parse_yaml(bytes_of("yaml", row.file), row.file);
    // One text or nothing at all: YAML, but no manifest.
    const bool no_map = row.file == "crash/empty.yaml" || row.file == "crash/only-comment.yaml" ||
                        row.file == "crash/fkyaml-540-c.yaml";
    const bool syntax = !row.file.starts_with("manifest/");
    if (row.verdict == "accept" && !has_a_key_that_is_no_text(row.file)) {
      EXPECT_TRUE(node.has_value())
          << row.file << ": " << node.error().message << " " << node.error().where;
    } else if (row.verdict == "reject" && syntax && !parser_is_lax(row) && !no_map) {
      EXPECT_FALSE(node.has_value()) << row.file << ": " << row.reason;
    }
    if (!node) {
      EXPECT_EQ(node.error().code, ErrorCode::usage) << row.file;
      EXPECT_TRUE(node.error().where.starts_with(row.file + ":"))
          << row.file << " " << node.error().where;
      EXPECT_FALSE(node.error().hint.empty()) << row.file;
    }
  }
}

TEST(JsonCorpus, grammar_verdicts_hold) {
  const auto rows = test::corpus_rows("json");
  EXPECT_FALSE(rows.empty());
  for (const auto& row : rows) {
    const auto json = Json::parse(bytes_of("json", row.file), row.file);
    if (row.verdict == "accept") {
      EXPECT_TRUE(json.has_value()) << row.file;
    } else if (row.verdict == "reject" && !row.file.starts_with("made/")) {
      EXPECT_FALSE(json.has_value()) << row.file << ": " << row.reason;
    }
    if (json) {
      const auto again = Json::parse(json->dump(), row.file);
      ASSERT_TRUE(again.has_value()) << row.file << again.error().message;
      EXPECT_EQ(again->dump(false), json->dump(false)) << row.file;
    }
  }
}

} // namespace
} // namespace cukit::text
