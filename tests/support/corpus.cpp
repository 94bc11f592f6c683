#include "support/corpus.hpp"

#include <charconv>
#include <fstream>

namespace cukit::test {

namespace {

void append_utf8(std::string& text, unsigned value) {
  if (value < 0x80) {
    text += static_cast<char>(value);
  } else if (value < 0x800) {
    text += static_cast<char>(0xc0U | (value >> 6U));
    text += static_cast<char>(0x80U | (value & 0x3fU));
  } else {
    text += static_cast<char>(0xe0U | (value >> 12U));
    text += static_cast<char>(0x80U | ((value >> 6U) & 0x3fU));
    text += static_cast<char>(0x80U | (value & 0x3fU));
  }
}

std::string unescape(std::string_view text) {
  static constexpr std::string_view letters = "ntrfv\\";
  static constexpr std::string_view meanings = "\n\t\r\f\v\\";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    ++i;
    if (const auto at = letters.find(text[i]); at != std::string_view::npos) {
      result += meanings[at];
    } else if (text[i] == 'u' && i + 4 < text.size()) {
      unsigned value = 0;
      std::from_chars(text.data() + i + 1, text.data() + i + 5, value, 16);
      append_utf8(result, value);
      i += 4;
    }
  }
  return result;
}

} // namespace

std::filesystem::path corpus(const std::string& name) {
  return std::filesystem::path(CUKIT_CORPORA) / name;
}

std::vector<Row> read_table(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::vector<Row> rows;
  std::size_t columns = 0;
  for (std::string line; std::getline(input, line);) {
    Row row;
    std::string_view rest = line;
    for (auto tab = rest.find('\t'); tab != std::string_view::npos; tab = rest.find('\t')) {
      row.push_back(unescape(rest.substr(0, tab)));
      rest.remove_prefix(tab + 1);
    }
    row.push_back(unescape(rest));
    if (columns == 0) {
      columns = row.size();
      continue;
    }
    row.resize(columns);
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace cukit::test
