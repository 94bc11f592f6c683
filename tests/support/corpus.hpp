// Tables of the shared corpora: tab-separated fields with \n \t \r \f \v \\ and \uXXXX escapes and
// one header line. A checkout without the corpora gives nothing, and the test skips itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::test {

using Row = std::vector<std::string>;

/// The folder `name` of the corpora, or nothing where this checkout has none.
std::optional<std::filesystem::path> corpus(std::string_view source_dir, std::string_view name);

/// All lines but the header. Every row has as many fields as the header.
std::vector<Row> read_table(const std::filesystem::path& file);

} // namespace cukit::test
