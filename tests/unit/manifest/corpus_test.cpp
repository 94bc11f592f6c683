#include "manifest/manifest.hpp"
#include "support/corpus.hpp"

#include <gtest/gtest.h>

namespace cukit::manifest {
namespace {

TEST(ManifestCorpus, verdicts_hold) {
  const auto folder = test::corpus("yaml");
  const auto knowledge = knowledge::Knowledge::embedded();
  int read = 0;
  for (const auto& fields : test::read_table(folder / "expected.tsv")) {
    const auto& file = fields[0];
    const auto bytes = read_file(folder / file, 64U << 20U);
    ASSERT_TRUE(bytes.has_value()) << file;
    const auto manifest = parse(*bytes, file, knowledge);
    if (fields[1] == "reject") {
      EXPECT_FALSE(manifest.has_value()) << file << ": " << fields[2];
    } else if (fields[1] == "accept" && file.starts_with("manifest/")) {
      EXPECT_TRUE(manifest.has_value()) << file << ": " << manifest.error().message;
    }
    if (!manifest) {
      EXPECT_EQ(manifest.error().code, ErrorCode::usage) << file;
      EXPECT_TRUE(manifest.error().where.starts_with(file))
          << file << ": " << manifest.error().where;
    }
    ++read;
  }
  EXPECT_GE(read, 45);
}

} // namespace
} // namespace cukit::manifest
