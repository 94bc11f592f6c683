// Rows of an expected.tsv of the shared corpora: file, verdict, reason.
#pragma once

#include "base/files.hpp"
#include "base/strings.hpp"

#include <string>
#include <vector>

namespace cukit::test {

struct CorpusRow {
  std::string file;
  std::string verdict; ///< accept, reject or either
  std::string reason;
};

inline fs::path corpus_folder(const std::string& name) {
  return fs::path(CUKIT_SOURCE_DIR) / ".." / "shared" / "data" / "corpora" / name;
}

/// Empty where the corpora are not.
inline std::vector<CorpusRow> corpus_rows(const std::string& name) {
  std::vector<CorpusRow> rows;
  const auto table = read_file(corpus_folder(name) / "expected.tsv", 1U << 20U);
  if (!table) {
    return rows;
  }
  for (const auto line : split(*table, '\n')) {
    const auto fields = split(line, '\t');
    if (fields.size() >= 3 && fields[0] != "file") {
      rows.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2])});
    }
  }
  return rows;
}

} // namespace cukit::test
