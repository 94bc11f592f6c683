// The links of a PEP 503 page, read by a small scanner: tolerant of what people's servers write,
// linear in time, and nothing but <a> and <base> means anything to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::catalog {

struct HtmlLink {
  std::string href;
  std::optional<std::string> yanked; ///< the reason, possibly empty
  std::string size; ///< in bytes, as pages of cukit's own mirrors say it; usually empty
};

struct HtmlPage {
  std::string base; ///< of <base href>, empty: none
  std::vector<HtmlLink> links;
};

HtmlPage read_html(std::string_view text);

/// &amp; and the other four named entities, and numbers; anything else stays as it is.
std::string unescape_html(std::string_view text);

} // namespace cukit::catalog
