// What the log's commands and versions say of each other, and of the machine.
#include "base/strings.hpp"
#include "doctor/explain.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using buildlog::Command;

bool calls_nvcc(const Command& command) {
  return command.program.substr(command.program.rfind('/') + 1) == "nvcc";
}

std::string version_of(const survey::Toolkit& kit) {
  const auto nvcc = kit.tools.find("nvcc");
  return !kit.cudart.empty()       ? kit.cudart
         : nvcc == kit.tools.end() ? kit.release
                                   : nvcc->second.version;
}

/// 11.7 of /opt/vendor/cuda-11.7/include, where nothing is known of the folder itself.
std::string version_in(std::string_view path) {
  const auto at = path.rfind("cuda-");
  if (at == std::string_view::npos) {
    return {};
  }
  const auto rest = path.substr(at + 5, path.find('/', at) - at - 5);
  return minor_of(rest);
}

/// Headers inside a consumer's own wheel, whether it is here or not.
bool is_bundled(const Context& context, std::string_view folder) {
  return std::any_of(context.recipes.begin(), context.recipes.end(), [&](const auto& recipe) {
    return !recipe.bundle.empty() &&
           folder.find(recipe.bundle + "/include") != std::string_view::npos;
  });
}

struct Foreign {
  std::string folder;
  std::string flag;
  std::string version; ///< may be empty
};

/// A folder of the command that is another toolkit's than nvcc's.
std::optional<Foreign> foreign_of(const Context& context, const Command& command,
                                  const NvccInUse& nvcc) {
  const auto* own = survey::toolkit_of(context.snapshot, nvcc.path);
  const auto slash = nvcc.path.rfind("/bin/");
  const auto own_root = slash == std::string::npos ? std::string() : nvcc.path.substr(0, slash);
  const auto check = [&](const std::string& folder, const char* flag) -> std::optional<Foreign> {
    if (is_bundled(context, folder)) {
      return Foreign{folder, flag, ""};
    }
    const auto* other = survey::toolkit_of(context.snapshot, folder);
    const auto version = other != nullptr ? version_of(*other) : version_in(folder);
    const bool is_own = (own != nullptr && other == own) ||
                        (!own_root.empty() && folder.starts_with(own_root + "/"));
    if (is_own) {
      return std::nullopt;
    }
    if (differ(version, nvcc.version)) {
      return Foreign{folder, flag, version};
    }
    const bool is_wheel = folder.find("/nvidia/cu1") != std::string::npos && !own_root.empty();
    const bool is_root = folder.ends_with("cuda/include") && !own_root.empty();
    const bool is_other =
        own != nullptr && other != nullptr && !other->cudart.empty() && calls_nvcc(command);
    if ((is_wheel || is_root || is_other) && (version.empty() || nvcc.version.empty())) {
      return Foreign{folder, flag, version};
    }
    return std::nullopt;
  };
  for (const auto& folder : command.includes) {
    if (auto found = check(folder, "-I")) {
      return found;
    }
  }
  for (const auto& folder : command.system_includes) {
    if (auto found = check(folder, "-isystem ")) {
      return found;
    }
  }
  return std::nullopt;
}

void foreign_includes(const Context& context, Findings& findings) {
  const auto in_use = nvcc_in_use(context);
  for (const auto& command : context.log.facts.commands) {
    auto nvcc = in_use;
    if (calls_nvcc(command) && command.program.find('/') != std::string::npos) {
      nvcc.path = command.program;
      const auto* kit = survey::toolkit_of(context.snapshot, nvcc.path);
      nvcc.version = kit != nullptr && kit->tools.contains("nvcc") ? kit->tools.at("nvcc").version
                                                                   : std::string();
    }
    const auto foreign = nvcc.path.empty() ? std::nullopt : foreign_of(context, command, nvcc);
    if (!foreign) {
      continue;
    }
    auto& finding = findings.add(RuleId::foreign_include_path);
    if (!finding.evidence.empty()) {
      return;
    }
    finding.cause =
        fmt::format("the build's own command adds {}{}, and nvcc is {}", foreign->folder,
                    foreign->version.empty() ? "" : " (CUDA " + foreign->version + ")",
                    nvcc.version.empty() ? nvcc.path : minor_of(nvcc.version));
    finding.log_line = command.line;
    finding.evidence = {
        {fmt::format("log:{}", command.line),
         fmt::format("{} ... {}{}", command.program, foreign->flag, foreign->folder)},
        {nvcc.path, "nvcc " + value_or(nvcc.version, "of unknown version")}};
    if (const auto* other = survey::toolkit_of(context.snapshot, foreign->folder)) {
      finding.evidence.push_back({other->root, "CUDA " + value_or(version_of(*other), "unknown")});
    }
    finding.fix = {
        by_hand(fmt::format("remove {}{} from the build", foreign->flag, foreign->folder),
                "nvcc finds the headers of its own release")};
    if (const auto* own = survey::toolkit_of(context.snapshot, nvcc.path)) {
      finding.fix.push_back(
          by_hand(fmt::format("give {} instead", value_or(own->include, own->root + "/include")),
                  "the headers of the nvcc that compiles"));
      finding.fix.push_back(
          by_command(use_tree(own->root), "if the build takes the folder from CUDA_HOME"));
    }
  }
}

/// CMake's compiler and the toolkit that it found are of two releases.
void two_versions(const Context& context, Findings& findings) {
  const buildlog::VersionLine* compiler = nullptr;
  const buildlog::VersionLine* toolkit = nullptr;
  for (const auto& line : context.log.facts.versions) {
    if (line.what == "CUDA compiler" && !line.version.empty()) {
      compiler = &line;
    } else if (line.what == "CUDA toolkit" && !line.version.empty() &&
               (toolkit == nullptr || toolkit->path.empty())) {
      toolkit = &line;
    }
    if (compiler != nullptr && toolkit != nullptr && differ(compiler->version, toolkit->version)) {
      break;
    }
  }
  if (compiler == nullptr || toolkit == nullptr || !differ(compiler->version, toolkit->version)) {
    return;
  }
  auto& finding = findings.add(RuleId::build_mixes_toolkits);
  finding.cause =
      fmt::format("CMake compiles with nvcc {} and takes headers and libraries of CUDA {}",
                  compiler->version, toolkit->version);
  finding.log_line = std::min(compiler->line, toolkit->line);
  finding.evidence = {
      {fmt::format("log:{}", compiler->line), "the CUDA compiler is " + compiler->version},
      {fmt::format("log:{}", toolkit->line),
       fmt::format("CUDAToolkit is {} {}", toolkit->version, toolkit->path)}};
  const survey::Toolkit* wanted = nullptr;
  for (const auto& kit : context.snapshot.toolkits) {
    const auto nvcc = kit.tools.find("nvcc");
    if (nvcc == kit.tools.end()) {
      continue;
    }
    finding.evidence.push_back({nvcc->second.path, "nvcc " + value_or(nvcc->second.version, "?")});
    if (minor_of(nvcc->second.version) == minor_of(toolkit->version)) {
      wanted = &kit;
    }
  }
  if (wanted != nullptr) {
    const auto nvcc = wanted->tools.at("nvcc").path;
    finding.fix = {by_command(put_first("PATH", nvcc.substr(0, nvcc.rfind('/'))),
                              "CMake takes the nvcc of that toolkit, in a new build folder"),
                   by_command(set_variable("CUDACXX", nvcc), "or -DCMAKE_CUDA_COMPILER=" + nvcc)};
  } else {
    finding.fix = {cukit_fix(context, any_builds(context))};
  }
}

} // namespace

void compare_log(const Context& context, Findings& findings) {
  if (!context.log.facts.is_failed) {
    return;
  }
  foreign_includes(context, findings);
  two_versions(context, findings);
}

} // namespace cukit::doctor
