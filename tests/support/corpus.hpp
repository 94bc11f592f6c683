// Hostile and odd files with the verdict to expect: those of tests/data/corpora, which were made
// for these tests, or, where it was built with CUKIT_CORPORA, a larger collection with files of
// others. Tables have tab-separated fields with \n \t \r \f \v \\ and \uXXXX escapes and one header
// line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cukit::test {

using Row = std::vector<std::string>;

/// The folder `name` of the corpora.
std::filesystem::path corpus(const std::string& name);

/// All lines but the header. Every row has as many fields as the header.
std::vector<Row> read_table(const std::filesystem::path& file);

} // namespace cukit::test
