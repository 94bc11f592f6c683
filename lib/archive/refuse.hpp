// The error of an archive that is not what it should be.
#pragma once

#include "base/result.hpp"

#include <string>

namespace cukit::archive {

/// `where` is the archive's name for people.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error>
refuse_archive(const std::string& where, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::integrity,
            .message = fmt::format(format, std::forward<Args>(args)...),
            .where = where,
            .hint = "the archive is damaged or was tampered with; delete it and fetch it again"});
}

} // namespace cukit::archive
