// limits.yaml
#include "base/number.hpp"
#include "base/strings.hpp"
#include "knowledge/limits.hpp"
#include "knowledge/parse.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

CLibraryClash read_clash(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a clash");
  CLibraryClash clash{.glibc = required_version(fields, "glibc"),
                      .cuda = required_version(fields, "cuda"),
                      .functions = fields.strings("functions"),
                      .evidence = required_evidence(fields)};
  if (clash.functions.empty()) {
    mistakes.add(node.at, "a clash needs `functions`");
  }
  return clash;
}

PlatformEnd read_end(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a platform");
  fields.require("platform");
  fields.require("successor");
  return {.platform = fields.parsed("platform", Platform::parse).value_or(Platform::host()),
          .last = required_version(fields, "last"),
          .without = required_version(fields, "without"),
          .successor = fields.parsed("successor", Platform::parse).value_or(Platform::host()),
          .evidence = required_evidence(fields)};
}

std::vector<LaunchArguments> read_launches(text::Fields& fields) {
  std::vector<LaunchArguments> result;
  for (const auto& [cuda, count] : fields.pairs("launch_arguments")) {
    const auto at = fields.take("launch_arguments")->at;
    const auto minor = cuda == "any" ? tl::unexpected<Error>(Error{}) : Version::parse(cuda);
    const auto number = whole_number<int>(count);
    if ((cuda != "any" && !minor) || (count != "unknown" && !number)) {
      fields.mistakes().add(
          at,
          fmt::format("`{}: {}` is no release with a number", printable(cuda), printable(count)),
          R"("13.0": "2", "13.1": unknown, any: "1")");
      continue;
    }
    result.push_back(
        {.cuda = minor ? std::optional(*minor) : std::nullopt, .count = number.value_or(0)});
  }
  return result;
}

template <typename T, typename Read>
std::vector<T> read_items(text::Fields& fields, std::string_view key, const Read& read) {
  std::vector<T> result;
  const auto* list = fields.require(key);
  if (list != nullptr && !list->is_list()) {
    fields.mistakes().add(list->at, fmt::format("`{}` must be a list", key));
  } else if (list != nullptr) {
    for (const auto& item : list->items) {
      result.push_back(read(item, fields.mistakes()));
    }
  }
  return result;
}

} // namespace

Result<Limits> parse_limits(std::string_view text, const std::string& name) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  Limits limits;
  {
    text::Fields fields(root, mistakes, "the file");
    limits.c_library = read_items<CLibraryClash>(fields, "c_library", read_clash);
    std::sort(limits.c_library.begin(), limits.c_library.end(),
              [](const auto& a, const auto& b) { return b.glibc < a.glibc; });
    limits.platforms = read_items<PlatformEnd>(fields, "platforms", read_end);
    limits.compiler_wheels = required_version(fields, "compiler_wheels");
    limits.cccl_numbers = required_version(fields, "cccl_numbers");
    limits.launch_arguments = read_launches(fields);
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return limits;
}

} // namespace cukit::knowledge
