#include "source/variables.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::source {

namespace {

/// uv lets an index have a name: corp=https://mirror.example/simple
std::string_view without_name(std::string_view text) {
  const auto equals = text.find('=');
  const bool named =
      equals != std::string_view::npos && equals > 0 &&
      std::all_of(text.begin(), text.begin() + static_cast<long>(equals), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
      });
  return named ? text.substr(equals + 1) : text;
}

Result<void> append(const std::string& name, const std::vector<std::string_view>& words,
                    std::vector<Address>& into) {
  for (const auto word : words) {
    CUKIT_TRY_ASSIGN(auto one, address(without_name(word), name, working_folder()));
    into.push_back(std::move(one));
  }
  return {};
}

Result<void> no_index(const Environment& environment, const std::string& name, Stated& result) {
  const auto value = environment.get(name);
  if (!value) {
    return {};
  }
  result.no_index = truth(*value);
  result.no_index_by = name;
  if (!result.no_index) {
    Error error{.code = ErrorCode::source,
                .message = fmt::format("{} is neither true nor false", name)};
    error.where = name;
    error.hint = fmt::format("set {0}=1 or {0}=0, or unset it", name);
    return tl::unexpected<Error>(std::move(error));
  }
  return {};
}

} // namespace

Result<Stated> stated_by_uv_variables(const Environment& environment) {
  Stated result;
  for (const auto* name : {"UV_DEFAULT_INDEX", "UV_INDEX_URL"}) {
    const auto value = environment.get(name);
    if (value && !result.index) {
      CUKIT_TRY_ASSIGN(result.index, address(without_name(*value), name, working_folder()));
    }
  }
  for (const auto* name : {"UV_INDEX", "UV_EXTRA_INDEX_URL"}) {
    const auto value = environment.get(name).value_or("");
    CUKIT_TRY(append(name, split_words(value), result.extra));
  }
  auto links = environment.get("UV_FIND_LINKS").value_or("");
  std::replace(links.begin(), links.end(), ',', ' ');
  CUKIT_TRY(append("UV_FIND_LINKS", split_words(links), result.find_links));
  CUKIT_TRY(no_index(environment, "UV_NO_INDEX", result));
  return result;
}

Result<Stated> stated_by_pip_variables(const Environment& environment) {
  Stated result;
  if (const auto value = environment.get("PIP_INDEX_URL")) {
    CUKIT_TRY_ASSIGN(result.index, address(*value, "PIP_INDEX_URL", working_folder()));
  }
  const auto extra = environment.get("PIP_EXTRA_INDEX_URL").value_or("");
  CUKIT_TRY(append("PIP_EXTRA_INDEX_URL", split_words(extra), result.extra));
  const auto links = environment.get("PIP_FIND_LINKS").value_or("");
  CUKIT_TRY(append("PIP_FIND_LINKS", split_words(links), result.find_links));
  CUKIT_TRY(no_index(environment, "PIP_NO_INDEX", result));
  return result;
}

} // namespace cukit::source
