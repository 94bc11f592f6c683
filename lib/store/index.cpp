// The index. UTF-8, lines end with LF, fields are separated by one tab (no path holds a control
// character). Version 2 is written only where there are links, and version 1 is read for ever:
//     cukit-index <TAB> 1 or 2
//     MODE <TAB> SIZE <TAB> SHA256 <TAB> PATH    one per file, sorted by path; 0444 or 0555
//     link <TAB> 0 <TAB> TARGET <TAB> PATH       one per symbolic link, among them; version 2
//     end <TAB> SHA256                           of all bytes before this line
#include "store/index.hpp"

#include "base/number.hpp"
#include "base/strings.hpp"

#include <algorithm>

namespace cukit::store {

namespace {

constexpr std::string_view k_head = "cukit-index\t1\n";
constexpr std::string_view k_head_with_links = "cukit-index\t2\n";
constexpr std::string_view k_plain = "0444";
constexpr std::string_view k_executable = "0555";

tl::unexpected<Error> damaged(const std::string& file, std::string_view why) {
  auto error = Error{.code = ErrorCode::integrity,
                     .message = fmt::format("the index of a store entry is damaged: {}", why),
                     .where = file};
  error.hint = "`cukit verify --repair` fetches the entry again";
  return tl::unexpected<Error>(std::move(error));
}

Result<EntryFile> read_line(std::string_view line, bool may_be_link, const std::string& file) {
  const auto fields = split(line, '\t');
  const bool is_link = fields[0] == "link";
  if (fields.size() != 4 || (is_link ? !may_be_link || fields[1] != "0" || fields[2].empty()
                                     : fields[0] != k_plain && fields[0] != k_executable)) {
    return damaged(file, "a line is no file");
  }
  EntryFile entry;
  CUKIT_TRY_ASSIGN(entry.path, RelativePath::parse(fields[3]));
  if (is_link) {
    CUKIT_TRY(resolve_link(entry.path, fields[2]));
    entry.link = fields[2];
    return entry;
  }
  entry.executable = fields[0] == k_executable;
  const auto size = whole_number(fields[1]);
  if (!size) {
    return damaged(file, "a size is no number");
  }
  entry.size = *size;
  CUKIT_TRY_ASSIGN(entry.sha256, Sha256::parse(fields[2]));
  return entry;
}

/// The lines between head and end, once the digest has shown that nothing was lost.
Result<std::string_view> body_of(std::string_view text, const std::string& file) {
  const auto end = text.rfind("end\t");
  if ((!text.starts_with(k_head) && !text.starts_with(k_head_with_links)) ||
      end == std::string_view::npos || end < k_head.size() || text[end - 1] != '\n' ||
      !text.ends_with('\n')) {
    return damaged(file, "it does not begin or end as an index of version 1 or 2");
  }
  const auto expected = Sha256::parse(trim(text.substr(end + 4)));
  if (!expected || *expected != sha256_of(text.substr(0, end))) {
    return damaged(file, "its digest differs");
  }
  return text.substr(k_head.size(), end - k_head.size());
}

} // namespace

std::string write_index(const std::vector<EntryFile>& list) {
  const bool has_links =
      std::any_of(list.begin(), list.end(), [](const auto& file) { return !file.link.empty(); });
  std::string text(has_links ? k_head_with_links : k_head);
  for (const auto& file : list) {
    text += file.link.empty()
                ? fmt::format("{}\t{}\t{}\t{}\n", file.executable ? k_executable : k_plain,
                              file.size, file.sha256.hex(), file.path.text())
                : fmt::format("link\t0\t{}\t{}\n", file.link, file.path.text());
  }
  text += fmt::format("end\t{}\n", sha256_of(text).hex());
  return text;
}

Result<std::vector<EntryFile>> read_index(std::string_view text, const std::string& file) {
  CUKIT_TRY_ASSIGN(std::string_view body, body_of(text, file));
  const bool has_links = text.starts_with(k_head_with_links);
  std::vector<EntryFile> list;
  while (!body.empty()) {
    const auto newline = body.find('\n');
    CUKIT_TRY_ASSIGN(auto entry, read_line(body.substr(0, newline), has_links, file));
    if (!list.empty() && list.back().path >= entry.path) {
      return damaged(file, "its paths are not sorted");
    }
    list.push_back(std::move(entry));
    body.remove_prefix(newline + 1);
  }
  return list;
}

} // namespace cukit::store
