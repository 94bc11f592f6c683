// The one way in which a text is quoted for sh.
#pragma once

#include <string>
#include <string_view>

namespace cukit {

/// Between single quotes, whatever it holds: a shell of the sh family takes every byte as it is.
[[nodiscard]] std::string single_quoted(std::string_view text);

} // namespace cukit
