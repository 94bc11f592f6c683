// Texts as YAML scalars, for what cukit writes itself: whatever the text holds, a reader gets it
// back as text, and nothing in it can become a key, a list or a comment of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cukit::text {

/// In double quotes. The text must be UTF-8, the only thing that YAML can hold.
[[nodiscard]] std::string yaml_quoted(std::string_view text);
/// In a one-line list or map, where spaces and commas would confuse a reader's eye: plain when it
/// is one safe word, else quoted.
[[nodiscard]] std::string yaml_item(std::string_view text);
/// After `key: `; single spaces inside are fine. Not for an empty text.
[[nodiscard]] std::string yaml_scalar(std::string_view text);
/// [a, "b c"]
[[nodiscard]] std::string yaml_list(const std::vector<std::string>& items);

} // namespace cukit::text
