// Programs that a log misses: are they here, and who should have looked?
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"
#include "survey/root_view.hpp"

#include <algorithm>
#include <array>

namespace cukit::doctor {

namespace {

using buildlog::Failure;

/// A program below a folder that a variable names: the variable leads astray, not PATH.
Finding* misled_by_variable(const Context& context, const Failure& failure,
                            const survey::Toolkit& kit, Findings& findings) {
  for (const auto& [name, value] : context.snapshot.environment) {
    if (!value.starts_with('/') || !failure.name.starts_with(value + "/")) {
      continue;
    }
    auto& finding = findings.add(RuleId::variable_wrong_folder, name);
    if (finding.cause.empty()) {
      const bool is_home = name == "CUDA_HOME" || name == "CUDA_PATH";
      finding.cause = fmt::format("{} is {}, where there is no {}", name, value,
                                  failure.name.substr(value.size() + 1));
      finding.evidence = {{name, value}, {kit.root, "is a toolkit that has it"}};
      finding.fix = {by_command(is_home ? use_tree(kit.root) : set_variable(name, kit.root),
                                "the toolkit that is there")};
    }
    return &finding;
  }
  return nullptr;
}

/// A tool of CUDA that is here, but not where it was looked for.
Finding* tool_elsewhere(const Context& context, const Failure& failure, const std::string& name,
                        Findings& findings) {
  for (const auto& kit : context.snapshot.toolkits) {
    const auto tool = kit.tools.find(name);
    if (tool == kit.tools.end() || tool->second.path == failure.name) {
      continue;
    }
    if (auto* finding = misled_by_variable(context, failure, kit, findings)) {
      return finding;
    }
    const auto folder = survey::parent_of(tool->second.path);
    const auto& named = context.log.facts.variables;
    auto& finding = findings.add(RuleId::nvcc_not_in_path);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause = fmt::format("{} is in {}; what failed looks at PATH{}{}", name, folder,
                                named.empty() ? "" : " and " + join(named, ", "), " only");
    finding.evidence.push_back(
        {tool->second.path, value_or(tool->second.version, "of unknown version")});
    for (const auto& variable_name : named) {
      finding.evidence.push_back(
          {variable_name, value_or(variable(context.snapshot, variable_name), "not set")});
    }
    finding.fix = {by_command(put_first("PATH", folder), "it is then found")};
    for (const auto& variable_name : named) {
      const bool is_program = variable_name == "CUDACXX" || variable_name == "NVCC";
      finding.fix.push_back(
          by_command(set_variable(variable_name, is_program ? tool->second.path : kit.root),
                     "the variable that the log names"));
    }
    return &finding;
  }
  return nullptr;
}

/// CMake names a compiler that is not there, while another one is: its cache keeps the answer of an
/// earlier run, which counts before every variable.
Finding* stale_build_folder(const Context& context, const Failure& failure, Findings& findings) {
  const auto is_named = [&](const auto& item) { return item.second == failure.name; };
  const auto& variables = context.snapshot.environment;
  if (!failure.name.starts_with('/') ||
      std::any_of(variables.begin(), variables.end(), is_named)) { // CUDACXX says so
    return nullptr;
  }
  const auto& lines = context.log.facts.versions;
  const auto place = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.what == buildlog::k_build_folder;
  });
  auto& finding = findings.add(RuleId::build_environment_differs);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  const auto& path = context.snapshot.path_nvcc.front();
  finding.cause = fmt::format("{} is not there: CMakeCache.txt{} keeps it as the compiler of an "
                              "earlier run, whatever PATH and CUDACXX say now ({})",
                              failure.name, place == lines.end() ? "" : " in " + place->path, path);
  finding.evidence = {{failure.name, "is not there"}, {path, "is in PATH"}};
  if (place != lines.end()) {
    finding.fix.push_back(by_command(
        ShellCommand({"rm", "-rf", place->path + "/CMakeCache.txt", place->path + "/CMakeFiles"}),
        "the next configure run looks for the compiler again"));
  }
  finding.fix.push_back(by_hand("configure in a new build folder, or with --fresh",
                                "the next configure run looks for the compiler again"));
  return &finding;
}

} // namespace

/// nvcc is there, and CMake's test of it failed: what is known of the reasons is told by rules.
Finding* compiler_check(const Context& context, Findings& findings) {
  auto& finding = findings.add(RuleId::compiler_check_failed);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  const auto nvcc = nvcc_in_use(context);
  const auto path = value_or(nvcc.path.find('/') == std::string::npos ? "" : nvcc.path,
                             context.snapshot.path_nvcc.front());
  finding.cause = fmt::format("{} is there, and did not compile CMake's test file", path);
  finding.evidence.push_back({path, "nvcc " + value_or(nvcc.version, "of unknown version")});
  for (const auto& compiler : context.snapshot.compilers) {
    finding.evidence.push_back({compiler.path, compiler.kind + " " + compiler.version});
  }
  finding.fix = {
      by_command(ShellCommand({"printf", "int main(){}\\n"})
                     .into("cukit-test.cu")
                     .then(ShellCommand({path, "-o", "/dev/null", "cukit-test.cu"})),
                 "says what CMake leaves out; `cukit doctor --watch` before it explains that"),
      by_hand("read CMakeFiles/CMakeConfigureLog.yaml (CMakeError.log before CMake 3.26) below the "
              "build folder",
              "what nvcc said to CMake stands there")};
  return &finding;
}

Finding& build_environment_differs(const Context& context, Findings& findings) {
  auto& finding = findings.add(RuleId::build_environment_differs);
  if (!finding.cause.empty()) { // said already
    return finding;
  }
  const auto& path = context.snapshot.path_nvcc.front();
  const auto nvcc = nvcc_in_use(context);
  finding.cause = fmt::format("the build found no nvcc, and {} is in PATH here: it ran with other "
                              "variables, or CMakeCache.txt keeps an older answer",
                              path);
  finding.evidence = {{path, "nvcc " + value_or(nvcc.version, "of unknown version")},
                      {"PATH", variable(context.snapshot, "PATH")}};
  finding.fix = {
      by_command(set_variable("CUDACXX", path),
                 "CMake takes it wherever PATH leads; in a new build folder, or with --fresh"),
      by_hand("start the build with the variables of this shell (sudo, services and IDEs have a "
              "PATH of their own: sudo --preserve-env=PATH, or PATH in the build's own "
              "configuration)",
              "nvcc is then found as it is here")};
  return finding;
}

Finding* missing_tool(const Context& context, const Failure& failure, Findings& findings) {
  auto name = std::string(survey::name_of(failure.name));
  const bool is_nvcc_by_cmake =
      failure.tool == "CMake" &&
      (name.empty() || name == "nvcc" || name.find("CUDA_COMPILER") != std::string::npos);
  name = is_nvcc_by_cmake ? "nvcc" : name;
  const bool is_by_path = failure.name.find('/') != std::string::npos && !is_nvcc_by_cmake;
  if (name.empty()) {
    return nullptr;
  }
  constexpr std::array<std::string_view, 10> cuda_tools = {
      "nvcc",     "ptxas", "cicc",      "nvlink",   "fatbinary",
      "cudafe++", "bin2c", "cuobjdump", "nvdisasm", "nvprune"};
  if (std::find(cuda_tools.begin(), cuda_tools.end(), name) != cuda_tools.end()) {
    if (name == "nvcc" && !context.snapshot.path_nvcc.empty() && !is_by_path) {
      if (auto* finding =
              is_nvcc_by_cmake ? stale_build_folder(context, failure, findings) : nullptr) {
        return finding;
      }
      return is_nvcc_by_cmake && failure.state == buildlog::State::failed &&
                     failure.name.find("NOTFOUND") == std::string::npos
                 ? compiler_check(context, findings)
                 : &build_environment_differs(context, findings);
    }
    if (auto* finding = tool_elsewhere(context, failure, name, findings)) {
      return finding;
    }
    const auto id = name == "nvcc" ? RuleId::no_nvcc : RuleId::tool_missing;
    auto& finding = findings.add(id);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause = fmt::format("{} is wanted, and nothing that a build looks at has it", name);
    offer_own_toolkits(context, finding);
    finding.fix.push_back(cukit_fix(context, {}));
    return &finding;
  }
  const bool is_compiler = name.find("g++") != std::string::npos || name.starts_with("gcc") ||
                           name.starts_with("clang") || name.starts_with("cc1") || name == "cc" ||
                           name == "c++" || name.find("-gcc") != std::string::npos;
  if (!is_compiler) {
    auto& finding = findings.add(RuleId::program_missing, name);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause = fmt::format("{} is started and is not in PATH", name);
    finding.fix = {install_program(context, name)};
    return &finding;
  }
  auto& finding = findings.add(RuleId::host_compiler_missing);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  finding.cause = fmt::format("{} is asked for as the host compiler and is not here", failure.name);
  for (const auto& compiler : context.snapshot.compilers) {
    finding.evidence.push_back(
        {compiler.path, compiler.kind + " " + compiler.version + " is here"});
  }
  finding.fix = other_compilers(context, failure.name);
  return &finding;
}

} // namespace cukit::doctor
