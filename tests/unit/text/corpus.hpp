// Rows of an expected.tsv of the corpora: file, verdict, reason.
#pragma once

#include "base/files.hpp"
#include "support/corpus.hpp"

#include <string>
#include <vector>

namespace cukit::test {

struct CorpusRow {
  std::string file;
  std::string verdict; ///< accept, reject or either
  std::string reason;
};

inline std::vector<CorpusRow> corpus_rows(const std::string& name) {
  std::vector<CorpusRow> rows;
  for (const auto& row : read_table(corpus(name) / "expected.tsv")) {
    rows.push_back({row.at(0), row.at(1), row.at(2)});
  }
  return rows;
}

} // namespace cukit::test
