#include "archive/record.hpp"

#include "base/limits.hpp"
#include "base/number.hpp"
#include "base/strings.hpp"

namespace cukit::archive {

namespace {

int digit_value(char c) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const auto at = digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// Reads CSV as Python's csv module writes it: fields in quotes when needed, quotes doubled.
class CsvReader {
public:
  explicit CsvReader(std::string_view text) : rest_(text) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] int line() const { return line_; }

  Result<std::vector<std::string>> row() {
    std::vector<std::string> fields;
    ++line_;
    while (true) {
      CUKIT_TRY_ASSIGN(auto field, next_field());
      fields.push_back(std::move(field));
      if (rest_.starts_with(',')) {
        rest_.remove_prefix(1);
        continue;
      }
      rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : rest_.empty() ? 0 : 1);
      return fields;
    }
  }

private:
  Result<std::string> next_field() {
    if (rest_.starts_with('"')) {
      return quoted_field();
    }
    const auto end = std::min(rest_.find_first_of(",\n\""), rest_.size());
    auto field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (rest_.starts_with('"')) {
      return fail(ErrorCode::integrity, "RECORD line {}: a quote inside a field", line_);
    }
    if (field.ends_with('\r') && !rest_.starts_with(',')) { // of CRLF; row() takes the LF
      field.remove_suffix(1);
    }
    return std::string(field);
  }

  Result<std::string> quoted_field() {
    std::string field;
    rest_.remove_prefix(1);
    while (true) {
      const auto end = rest_.find('"');
      if (end == std::string_view::npos) {
        return fail(ErrorCode::integrity, "RECORD line {}: a quote is never closed", line_);
      }
      field += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (!rest_.starts_with('"')) {
        break;
      }
      field += '"';
      rest_.remove_prefix(1);
    }
    if (!rest_.empty() && !rest_.starts_with(',') && !rest_.starts_with('\n') &&
        !rest_.starts_with("\r\n")) {
      return fail(ErrorCode::integrity, "RECORD line {}: text after a closing quote", line_);
    }
    return field;
  }

  std::string_view rest_;
  int line_ = 0;
};

Result<RecordRow> parse_row(const std::vector<std::string>& fields, int line) {
  const auto wrong = [line](std::string_view what, std::string_view value) {
    return fail(ErrorCode::integrity, "RECORD line {}: {} `{}`", line, what,
                printable(value.substr(0, 200)));
  };
  if (fields.size() != 3) {
    return wrong("not path, digest and size but", join(fields, ","));
  }
  RecordRow row;
  auto path = RelativePath::parse(fields[0]);
  if (!path) {
    return fail(ErrorCode::integrity, "RECORD line {}: {}", line, path.error().message);
  }
  row.path = *std::move(path);
  if (!fields[1].empty()) {
    constexpr std::string_view prefix = "sha256=";
    if (!fields[1].starts_with(prefix)) {
      return wrong("a digest that is no sha256,", fields[1]);
    }
    row.sha256 = decode_digest(std::string_view(fields[1]).substr(prefix.size()));
    if (!row.sha256) {
      return wrong("a digest that is not 43 characters of urlsafe base64,", fields[1]);
    }
  }
  if (!fields[2].empty()) {
    row.size = whole_number(fields[2]);
    if (!row.size) {
      return wrong("a size that is no number,", fields[2]);
    }
  }
  return row;
}

} // namespace

std::optional<Sha256> decode_digest(std::string_view text) {
  constexpr std::size_t length = 43; // 256 bits at 6 a character
  if (text.size() != length) {
    return std::nullopt;
  }
  std::array<std::uint8_t, 32> bytes{};
  unsigned bits = 0;
  unsigned count = 0;
  std::size_t filled = 0;
  for (const char c : text) {
    const int value = digit_value(c);
    if (value < 0) {
      return std::nullopt;
    }
    bits = bits << 6U | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[filled++] = static_cast<std::uint8_t>(bits >> count & 0xffU);
    }
  }
  if ((bits & 3U) != 0) { // else one digest would have four spellings
    return std::nullopt;
  }
  return Sha256(bytes);
}

Result<std::vector<RecordRow>> parse_record(std::string_view text) {
  std::vector<RecordRow> rows;
  CsvReader reader(text);
  while (!reader.at_end()) {
    CUKIT_TRY_ASSIGN(const auto fields, reader.row());
    if (fields.size() == 1 && fields[0].empty()) {
      continue; // an empty line, as Python's csv module has it
    }
    CUKIT_TRY_ASSIGN(auto row, parse_row(fields, reader.line()));
    rows.push_back(std::move(row));
    if (rows.size() > limits::k_archive_members) {
      return fail(ErrorCode::integrity, "RECORD has more rows than the {} that are accepted",
                  limits::k_archive_members);
    }
  }
  return rows;
}

} // namespace cukit::archive
