// Run-time compilers part by part: a consumer takes NVRTC, NVVM, nvJitLink and headers each from
// the first place that has it, and these need not be of one release.
#include "base/strings.hpp"
#include "doctor/context.hpp"
#include "fit/parts.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

std::string nvrtc_minor(const survey::Toolkit& kit) {
  std::string result;
  constexpr std::string_view prefix = "libnvrtc-builtins.so.";
  for (const auto& [name, path] : kit.libraries) {
    if (name.starts_with(prefix)) {
      const auto minor = minor_of(name.substr(prefix.size()));
      if (is_older(result, minor) || result.empty()) {
        result = minor;
      }
    }
  }
  return result;
}

std::string nvjitlink_minor(const survey::Toolkit& kit) {
  for (const auto* name : {"nvidia-nvjitlink", "nvidia-nvjitlink-cu12"}) {
    if (const auto owner = kit.owners.find(name);
        kit.nvjitlink.empty() && owner != kit.owners.end()) {
      return minor_of(owner->second);
    }
  }
  return minor_of(kit.nvjitlink);
}

/// Of libNVVM, which is cicc's own: NVVM without a cicc is of a wheel.
std::string nvvm_minor(const survey::Toolkit& kit) {
  if (kit.libdevice.empty()) {
    return {};
  }
  if (const auto cicc = kit.tools.find("cicc"); cicc != kit.tools.end()) {
    return minor_of(cicc->second.version);
  }
  const auto owner = kit.owners.find("nvidia-nvvm");
  return owner == kit.owners.end() ? std::string() : minor_of(owner->second);
}

using Minor = std::string (*)(const survey::Toolkit&);

/// The toolkit of which a consumer would take a part: of its own environment first, then what the
/// variables name, then any.
const survey::Toolkit* part_of(const Context& context, const Found& found, Minor minor) {
  const survey::Toolkit* other = nullptr;
  const survey::Toolkit* named = nullptr;
  for (const auto& kit : context.snapshot.toolkits) {
    if (minor(kit).empty()) {
      continue;
    }
    if (found.python != nullptr && kit.environment == found.python->prefix) {
      return &kit;
    }
    other = other == nullptr ? &kit : other;
    for (const auto* variable_name : {"CUDA_HOME", "CUDA_PATH"}) {
      const auto value = variable(context.snapshot, variable_name);
      named = named == nullptr && !value.empty() && survey::is_root_of(kit, value) ? &kit : named;
    }
  }
  return named == nullptr ? other : named;
}

void nvrtc_headers(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto* library =
        found.compiles == "nvrtc" ? part_of(context, found, nvrtc_minor) : nullptr;
    if (library == nullptr ||
        !is_refused(fit::minor_part, nvrtc_minor(*library), found.headers_version)) {
      continue;
    }
    const auto minor = nvrtc_minor(*library);
    auto& finding = findings.add(RuleId::nvrtc_headers_differ, found.headers);
    finding.consumers.push_back(found.consumer);
    finding.cause = fmt::format("{} compiles with NVRTC {} and headers of {}", found.consumer,
                                minor, found.headers_version);
    finding.evidence = {
        {library->root, "libnvrtc of " + minor},
        {found.headers + "/cuda_runtime_api.h", "CUDART_VERSION " + found.headers_version}};
    const auto prefix = found.python != nullptr ? found.python->prefix : std::string();
    const auto project = wheel_for("nvidia-cuda-runtime", minor);
    finding.fix = {
        by_command(pip_install(context, prefix, {fmt::format("{}=={}.*", project, minor)}),
                   "headers of NVRTC's minor, in the place that is looked at first")};
  }
}

void builtins(const Context& context, Findings& findings) {
  for (const auto& kit : context.snapshot.toolkits) {
    const auto nvrtc =
        std::find_if(kit.libraries.begin(), kit.libraries.end(),
                     [](const auto& library) { return library.first.starts_with("libnvrtc.so."); });
    if (nvrtc == kit.libraries.end() || !nvrtc_minor(kit).empty()) {
      continue;
    }
    auto& finding = findings.add(RuleId::nvrtc_builtins_missing, kit.real);
    finding.cause = fmt::format("{} has no libnvrtc-builtins beside it", nvrtc->second);
    finding.evidence = {{nvrtc->second, "there"},
                        {kit.root + "/lib/libnvrtc-builtins.so", "not there"}};
    const auto project =
        nvrtc->first.ends_with(".12") ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc";
    finding.fix = {by_command(pip_install(context, kit.environment, {project},
                                          {"--force-reinstall", "--no-deps"}),
                              "libnvrtc and its builtins of one release"),
                   by_command(set_variable("LD_LIBRARY_PATH", kit.root + "/lib"),
                              "where both are installed elsewhere")};
    for (const auto& found : context.found) {
      if (found.compiles == "nvrtc" && found.kit == &kit) {
        finding.consumers.push_back(found.consumer);
      }
    }
  }
}

/// nvJitLink reads PTX and LTO code up to its own release; NVVM and NVRTC write their own.
void nvjitlink(const Context& context, Findings& findings) {
  struct Writer {
    const char* name;
    Minor minor;
  };
  for (const auto& found : context.found) {
    const auto& recipe = context.recipe(found);
    const bool links =
        found.compiles == "nvrtc" &&
        std::find(recipe.needs.begin(), recipe.needs.end(), "nvjitlink") != recipe.needs.end();
    const auto* linker = links ? part_of(context, found, nvjitlink_minor) : nullptr;
    if (linker == nullptr) {
      continue;
    }
    const auto have = nvjitlink_minor(*linker);
    for (const auto& [name, minor] : {Writer{"NVVM", nvvm_minor}, Writer{"NVRTC", nvrtc_minor}}) {
      // one that names libdevice compiles by NVVM
      const bool uses = minor == nvrtc_minor || recipe.discovery.needs_libdevice;
      const auto* writer = uses ? part_of(context, found, minor) : nullptr;
      if (writer == nullptr || major_of(minor(*writer)) != major_of(have) ||
          !is_older(have, minor(*writer))) {
        continue;
      }
      const auto newer = minor(*writer);
      auto& finding = findings.add(RuleId::nvjitlink_older, linker->root);
      finding.consumers.push_back(found.consumer);
      if (!finding.cause.empty()) { // said already
        break;
      }
      finding.cause = fmt::format("{} compiles with {} {} and links with nvJitLink {}, which reads "
                                  "nothing newer than itself",
                                  found.consumer, name, newer, have);
      finding.evidence = {{writer->root, fmt::format("{} {}", name, newer)},
                          {linker->root, "nvJitLink " + have}};
      const auto prefix = found.python != nullptr ? found.python->prefix : std::string();
      const auto project = wheel_for("nvidia-nvjitlink", have);
      finding.fix = {
          by_command(pip_install(context, prefix, {fmt::format("{}=={}.*", project, newer)}),
                     fmt::format("nvJitLink of {}'s release; a newer one serves older libraries of "
                                 "its major, too",
                                 name))};
      break;
    }
  }
}

} // namespace

const std::vector<Rule>& nvrtc_rules() {
  static const std::vector<Rule> rules = {nvrtc_headers, builtins, nvjitlink};
  return rules;
}

} // namespace cukit::doctor
