#include "assemble/entry_text.hpp"

#include <algorithm>

namespace cukit::assemble {

Result<std::string> read_entry_text(const TreeFile& file) {
  std::error_code none;
  const auto size = std::max<std::uint64_t>(file.size, fs::file_size(file.from, none));
  if (size > k_text_bytes && !none) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("{} of {} has {} bytes, more than the {} that a text may have",
                                     file.path.text(), file.owner, size, k_text_bytes),
              .where = file.from.string(),
              .hint = fmt::format("leave {} out of the manifest, or pin another version of it",
                                  file.owner)});
  }
  return read_file(file.from, k_text_bytes);
}

} // namespace cukit::assemble
