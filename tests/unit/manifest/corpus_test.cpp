#include "base/strings.hpp"
#include "manifest/manifest.hpp"

#include <gtest/gtest.h>

namespace cukit::manifest {
namespace {

fs::path corpus() {
  return fs::path(CUKIT_SOURCE_DIR) / ".." / "shared" / "data" / "corpora" / "yaml";
}

TEST(ManifestCorpus, verdicts_hold) {
  const auto table = read_file(corpus() / "expected.tsv", 1U << 20U);
  if (!table) {
    GTEST_SKIP() << "the shared corpora are not here";
  }
  const auto knowledge = knowledge::Knowledge::embedded();
  int read = 0;
  for (const auto line : split(*table, '\n')) {
    const auto fields = split(line, '\t');
    if (fields.size() < 3 || fields[0] == "file") {
      continue;
    }
    const std::string file(fields[0]);
    const auto bytes = read_file(corpus() / file, 64U << 20U);
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
  EXPECT_GT(read, 200);
}

} // namespace
} // namespace cukit::manifest
