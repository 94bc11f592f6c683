#include "catalog/requirement.hpp"

#include "base/strings.hpp"
#include "catalog/catalog.hpp"
#include "catalog/marker.hpp"
#include "model/project_name.hpp"

#include <algorithm>

namespace cukit::catalog {

namespace {

tl::unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(ErrorCode::source, "the requirement `{}` {}", printable(text.substr(0, 200)), why);
}

Result<std::vector<std::string>> read_extras(std::string_view whole, std::string_view list) {
  std::vector<std::string> extras;
  if (trim(list).empty()) {
    return extras;
  }
  for (auto extra : split(list, ',')) {
    extra = trim(extra);
    if (!is_project_name(extra)) {
      return wrong(whole, "has an extra that is no name");
    }
    extras.push_back(normalised_project(extra));
  }
  return extras;
}

Result<VersionRange> read_range(std::string_view whole, std::string_view text) {
  if (text.starts_with('(')) {
    if (!text.ends_with(')')) {
      return wrong(whole, "has a parenthesis that is not closed");
    }
    text = text.substr(1, text.size() - 2);
  }
  auto range = VersionRange::parse(text);
  if (!range) {
    return wrong(whole, fmt::format("has no readable versions: {}", range.error().message));
  }
  return range;
}

} // namespace

Result<Requirement> Requirement::parse(std::string_view text) {
  Requirement result;
  auto rest = trim(text);
  const auto name_end = std::min(rest.find_first_of(" \t[(;<>=!~@"), rest.size());
  const auto name = rest.substr(0, name_end);
  if (!is_project_name(name)) {
    return wrong(text, "begins with no project's name");
  }
  result.project = normalised_project(name);
  rest = trim(rest.substr(name_end));
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == std::string_view::npos) {
      return wrong(text, "has a bracket that is not closed");
    }
    CUKIT_TRY_ASSIGN(result.extras, read_extras(text, rest.substr(1, end - 1)));
    rest = trim(rest.substr(end + 1));
  }
  if (rest.starts_with('@')) {
    return wrong(text, "names a URL, which is not taken from a package");
  }
  const auto semicolon = rest.find(';');
  CUKIT_TRY_ASSIGN(result.range, read_range(text, trim(rest.substr(0, semicolon))));
  if (semicolon != std::string_view::npos) {
    CUKIT_TRY_ASSIGN(result.marker, parse_marker(rest.substr(semicolon + 1)));
  }
  return result;
}

bool Requirement::applies(Platform platform, std::string_view extra) const {
  return marker == nullptr || holds(*marker, platform, extra);
}

} // namespace cukit::catalog
