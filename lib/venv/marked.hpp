// A block of lines between two marks in a file of somebody else: put in, replaced, found again and
// taken out so that the file has the bytes that it had before. Private to venv.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cukit::venv {

/// `# >>> cukit venv WHAT >>>` and `# <<< cukit venv WHAT <<<`.
struct Marks {
  std::string_view what; ///< wire, pin
};

/// The lines between the marks, or nothing. An end without a beginning, or the reverse, is an error
/// (code host): somebody edited there.
Result<std::optional<std::string>> marked_lines(std::string_view text, Marks marks,
                                                const std::string& file);
/// `text` without the block.
Result<std::string> without_marked(std::string_view text, Marks marks, const std::string& file);
/// The block, to be put where a line begins.
std::string marked(std::string_view lines, Marks marks);
/// `text`, which has no block, with one at its end. A last line without an end is remembered in the
/// mark and is so again when the block goes.
std::string with_marked_at_end(std::string_view text, std::string_view lines, Marks marks);

} // namespace cukit::venv
