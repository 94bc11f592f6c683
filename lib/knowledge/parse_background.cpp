// torch-releases.yaml and glibc.yaml
#include "base/strings.hpp"
#include "knowledge/parse.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

TorchBuild read_build(text::Fields& fields, const std::string& tag) {
  TorchBuild build;
  const auto list = fields.texts(tag);
  std::optional<Version>* const places[] = {&build.cuda, &build.cudnn, &build.nccl};
  for (std::size_t i = 0; i < list.size() && i < std::size(places); ++i) {
    *places[i] = fields.parse_node(*list[i], Version::parse);
  }
  return build;
}

/// "7.5 8.0 9.0 12.0+PTX"
Result<CodeFor> parse_code(std::string_view text) {
  constexpr std::string_view k_ptx = "+PTX";
  CodeFor code;
  for (auto word : split(text, ' ')) {
    const bool has_ptx = word.ends_with(k_ptx);
    if (has_ptx) {
      word.remove_suffix(k_ptx.size());
    }
    CUKIT_TRY_ASSIGN(const auto target, GpuTarget::parse(word));
    code.cubins.push_back(target);
    if (has_ptx) {
      code.ptx = target;
    }
  }
  return code;
}

/// The targets of each build, `code` or `code_arm`.
void read_code(text::Fields& fields, const std::string& key,
               std::optional<CodeFor> TorchBuild::*place, std::map<std::string, TorchBuild>& builds,
               text::Mistakes& mistakes) {
  const auto* node = fields.take(key);
  if (node == nullptr) {
    return;
  }
  text::Fields inner(*node, mistakes, "`" + key + "`");
  for (auto& [tag, build] : builds) {
    build.*place = inner.parsed(tag, parse_code);
  }
}

TorchRelease read_torch(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a release of PyTorch");
  TorchRelease release{.version = required_version(fields, "torch"),
                       .date = fields.required_text("date"),
                       .needs = {},
                       .default_tag = fields.required_text("default"),
                       .builds = {},
                       .patches = {},
                       .evidence = required_evidence(fields),
                       .doubt = fields.text_or_empty("doubt")};
  for (const auto& [name, version] : fields.pairs("needs")) {
    if (auto parsed = Version::parse(version)) {
      release.needs.emplace(name, *std::move(parsed));
    } else {
      mistakes.add(fields.take("needs")->at, parsed.error().message);
    }
  }
  if (const auto* builds = fields.require("builds")) {
    text::Fields inner(*builds, mistakes, "`builds`");
    for (const auto& [tag, list] : builds->members) {
      const auto [place, is_new] =
          release.builds.emplace(tag.scalar, read_build(inner, tag.scalar));
      if (!place->second.cuda) {
        mistakes.add(list.at, "a build is [cuda, cudnn, nccl], and cuda must be known");
      }
    }
  }
  read_code(fields, "code", &TorchBuild::code, release.builds, mistakes);
  read_code(fields, "code_arm", &TorchBuild::code_arm, release.builds, mistakes);
  for (const auto* patch : fields.texts("patches")) {
    if (auto version = fields.parse_node(*patch, Version::parse)) {
      release.patches.push_back(*std::move(version));
    }
  }
  if (!release.builds.contains(release.default_tag)) {
    mistakes.add(node.at,
                 fmt::format("`{}` is none of the builds", printable(release.default_tag)));
  }
  return release;
}

LeastGlibc read_least_glibc(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a system");
  fields.require("platform");
  return {.platform = fields.parsed("platform", Platform::parse).value_or(Platform::host()),
          .from = required_version(fields, "from"),
          .least = required_version(fields, "glibc"),
          .system = fields.required_text("system"),
          .evidence = required_evidence(fields)};
}

} // namespace

Result<std::vector<LeastGlibc>> parse_least_glibc(std::string_view text, const std::string& name) {
  CUKIT_TRY_ASSIGN(auto list, read_list<LeastGlibc>(text, name, "systems", read_least_glibc));
  std::sort(list.begin(), list.end(), [](const LeastGlibc& a, const LeastGlibc& b) {
    return a.platform != b.platform ? a.platform < b.platform : a.from < b.from;
  });
  return list;
}

Result<std::vector<TorchRelease>> parse_torch_releases(std::string_view text,
                                                       const std::string& name) {
  CUKIT_TRY_ASSIGN(auto list, read_list<TorchRelease>(text, name, "releases", read_torch));
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a.version < b.version; });
  return list;
}

} // namespace cukit::knowledge
