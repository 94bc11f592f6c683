// The checklist of faults that cukit promises to survive has 44 rows. A test of a row carries its
// number in its name (row07_...), so that a promise without a test is found here.
#include "base/files.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <regex>
#include <set>

namespace cukit {
namespace {

constexpr int k_rows = 44;

std::set<int> rows_with_a_test(const fs::path& tests) {
  std::set<int> rows;
  const std::regex name(R"(\brow([0-9]{1,2})_[a-z])");
  for (const auto& entry : fs::recursive_directory_iterator(tests)) {
    const auto kind = entry.path().extension();
    if (!entry.is_regular_file() || (kind != ".cpp" && kind != ".sh") ||
        entry.path().filename() == "checklist_test.cpp") {
      continue;
    }
    const auto text = read_file(entry.path(), 4U << 20U).value_or("");
    for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) {
      rows.insert(std::stoi((*it)[1].str()));
    }
  }
  return rows;
}

TEST(Checklist, every_row_has_a_test_that_bears_its_number) {
  const auto tested = rows_with_a_test(fs::path(CUKIT_SOURCE_DIR) / "tests");
  std::vector<int> missing;
  for (int row = 1; row <= k_rows; ++row) {
    if (!tested.contains(row)) {
      missing.push_back(row);
    }
  }
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "rows without a test";
}

} // namespace
} // namespace cukit
