// A path inside an archive or a tree that has been checked: relative, no empty, `.` or `..` part,
// valid UTF-8, no control byte, no backslash, within the limits of base/limits.hpp. After parse()
// nobody checks again.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace cukit {

class RelativePath {
public:
  RelativePath() = default; ///< the folder itself
  static Result<RelativePath>
  parse(std::string_view text); ///< ErrorCode::integrity; a trailing / is refused

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string_view name() const; ///< the last part
  [[nodiscard]] RelativePath parent() const;   ///< empty at the top
  [[nodiscard]] bool
  is_inside(std::string_view folder) const; ///< `folder` with or without trailing /
  auto operator<=>(const RelativePath&) const = default;

private:
  explicit RelativePath(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

/// Where a link at `link` with the relative text `target` leads, as a path in the same tree; an
/// error when it leaves the tree.
Result<RelativePath> resolve_link(const RelativePath& link, std::string_view target);

} // namespace cukit
