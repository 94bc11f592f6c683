// Headers, programs and libraries that a log misses: are they here, and who should have looked?
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"
#include "survey/root_view.hpp"

#include <algorithm>
#include <array>

namespace cukit::doctor {

namespace {

using buildlog::Failure;

std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/')));
}

const buildlog::Command* command_of(const Context& context, const Failure& failure) {
  const auto& commands = context.log.facts.commands;
  return failure.command == 0 || failure.command > commands.size() ? nullptr
                                                                   : &commands[failure.command - 1];
}

/// conda's, apt's or the index's package that brings the headers of a component.
Fix install_headers(const Context& context, const survey::PythonEnvironment* conda,
                    const std::string& component) {
  const bool is_runtime_part = component == "cudart" || component == "nvrtc" ||
                               component == "nvml" || component == "nvtx" || component == "cupti";
  if (conda != nullptr) {
    const auto package = component == "cccl" ? std::string("cuda-cccl")
                         : is_runtime_part   ? "cuda-" + component + "-dev"
                         : component == "cudnn" || component == "nccl" ? component
                                                                       : "lib" + component + "-dev";
    return conda_install("", {"-p", conda->prefix, package},
                         "the headers, beside the library that is there");
  }
  constexpr std::array<std::string_view, 6> own = {"cudnn",      "nccl",  "cutensor",
                                                   "cusparselt", "cudss", "nvshmem"};
  if (std::find(own.begin(), own.end(), component) != own.end()) {
    return by_hand(
        fmt::format("install {0} with its headers (NVIDIA's wheel or the -dev package for "
                    "this CUDA major) and put its include folder into CPATH",
                    component),
        "it is a product of its own, in no toolkit");
  }
  return cukit_fix(context, {});
}

/// A tool of CUDA that is here, but not where it was looked for.
Finding* tool_elsewhere(const Context& context, const Failure& failure, const std::string& name,
                        Findings& findings) {
  for (const auto& kit : context.snapshot.toolkits) {
    const auto tool = kit.tools.find(name);
    if (tool == kit.tools.end() || tool->second.path == failure.name) {
      continue;
    }
    const auto folder = folder_of(tool->second.path);
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

} // namespace

std::string_view component_of(std::string_view name) {
  struct Family {
    std::string_view begins;
    std::string_view component;
  };
  // the longest first where one begins another
  constexpr std::array<Family, 34> families = {{{"cuda_profiler_api", "profiler"},
                                                {"cuda/", "cccl"},
                                                {"cub/", "cccl"},
                                                {"thrust/", "cccl"},
                                                {"nv/", "cccl"},
                                                {"crt/", "crt"},
                                                {"cudnn", "cudnn"},
                                                {"nccl", "nccl"},
                                                {"cublas", "cublas"},
                                                {"cufft", "cufft"},
                                                {"cufile", "cufile"},
                                                {"curand", "curand"},
                                                {"cusolver", "cusolver"},
                                                {"cusparselt", "cusparselt"},
                                                {"cusparse", "cusparse"},
                                                {"cutensor", "cutensor"},
                                                {"cutlass", ""},
                                                {"cupti", "cupti"},
                                                {"generated_cuda", "cupti"},
                                                {"nvjitlink", "nvjitlink"},
                                                {"nvjpeg", "nvjpeg"},
                                                {"npp", "npp"},
                                                {"nvrtc", "nvrtc"},
                                                {"nvml", "nvml"},
                                                {"nvtoolsext", "nvtx"},
                                                {"nvtx", "nvtx"},
                                                {"nvfatbin", "nvfatbin"},
                                                {"nvptxcompiler", "nvptxcompiler"},
                                                {"nvshmem", "nvshmem"},
                                                {"cudss", "cudss"},
                                                {"cuda", "cudart"},
                                                {"vector_", "cudart"},
                                                {"cooperative_groups", "cudart"},
                                                {"device_launch_parameters", "cudart"}}};
  auto text = lower(name);
  if (text.starts_with("-l")) {
    text = text.substr(2);
  }
  if (text.starts_with("lib")) {
    text = text.substr(3);
  }
  for (const auto& [begins, component] : families) {
    if (text.starts_with(begins)) {
      return component;
    }
  }
  return {};
}

NvccInUse nvcc_in_use(const Context& context) {
  const auto version_of = [&](const std::string& path) {
    const auto* kit = survey::toolkit_of(context.snapshot, path);
    if (kit == nullptr || !kit->tools.contains("nvcc")) {
      return std::string();
    }
    return kit->tools.at("nvcc").version;
  };
  for (const auto& command : context.log.facts.commands) {
    if (survey::name_of(command.program) != "nvcc") {
      continue;
    }
    const bool is_name = command.program.find('/') == std::string::npos;
    const auto path = !is_name                             ? command.program
                      : context.snapshot.path_nvcc.empty() ? std::string()
                                                           : context.snapshot.path_nvcc.front();
    if (!path.empty()) {
      return {.path = path, .version = version_of(path)};
    }
  }
  for (const auto& line : context.log.facts.versions) {
    if (line.what == "CUDA compiler" || line.what == "nvcc") {
      return {.path = line.what, .version = line.version};
    }
  }
  if (!context.snapshot.path_nvcc.empty()) {
    const auto& path = context.snapshot.path_nvcc.front();
    return {.path = path, .version = version_of(path)};
  }
  for (const auto& found : context.found) {
    if (!found.nvcc.empty()) {
      return {.path = found.nvcc, .version = found.nvcc_version};
    }
  }
  return {};
}

Finding* missing_header(const Context& context, const Failure& failure, Findings& findings) {
  const auto* command = command_of(context, failure);
  const auto& known = context.snapshot.found_headers;
  const auto there = std::find_if(known.begin(), known.end(), [&](const auto& header) {
    return header.name == failure.name && !header.paths.empty();
  });
  if (there != known.end()) {
    const auto& path = there->paths.front();
    const auto folder = path.substr(0, path.size() - failure.name.size() - 1);
    auto& finding = findings.add(RuleId::header_not_searched, failure.name);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause =
        fmt::format("{} is in {}, and the compile does not look there", failure.name, folder);
    for (const auto& one : there->paths) {
      finding.evidence.push_back({one, "is there"});
    }
    if (!there->named_by.empty()) {
      finding.evidence.push_back({there->named_by, "leads there, and is not what the build reads"});
    }
    if (command != nullptr) {
      auto folders = command->includes;
      folders.insert(folders.end(), command->system_includes.begin(),
                     command->system_includes.end());
      finding.evidence.push_back(
          {fmt::format("log:{}", command->line),
           fmt::format("{} looks in {}", command->program,
                       folders.empty() ? "its own folders alone" : join(folders, " "))});
    }
    finding.fix = {by_command(put_first("CPATH", folder), "gcc, clang and nvcc look there, too")};
    if (component_of(failure.name) == "cudnn") {
      finding.fix.push_back(by_command(set_variable("CUDNN_PATH", folder_of(folder)),
                                       "torch's builder reads CUDNN_HOME and CUDNN_PATH alone"));
    }
    return &finding;
  }
  if (failure.name == "Python.h") {
    auto& finding = findings.add(RuleId::python_headers_missing);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause = "Python is here without its headers, which every extension includes";
    finding.fix = {install_python_headers(context)};
    return &finding;
  }
  const auto component = component_of(failure.name);
  if (component.empty()) {
    auto& finding = findings.add(RuleId::header_missing, failure.name);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause =
        fmt::format("{} is not of CUDA, and in no folder that this compile names", failure.name);
    finding.fix = {by_hand(fmt::format("install the development package that brings {}, or add its "
                                       "folder with -I or CPATH",
                                       failure.name),
                           "the compiler then finds it")};
    return &finding;
  }
  const auto conda = std::find_if(context.snapshot.pythons.begin(), context.snapshot.pythons.end(),
                                  [](const auto& python) { return python.is_conda; });
  const auto* prefix = conda == context.snapshot.pythons.end() ? nullptr : &*conda;
  auto& finding = findings.add(RuleId::header_missing, failure.name);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  finding.cause =
      fmt::format("{} of {} is in no toolkit, wheel or environment that this build can see",
                  failure.name, component);
  for (const auto& kit : context.snapshot.toolkits) {
    for (const auto& [library, path] : kit.libraries) {
      if (component_of(library) == component) {
        finding.cause = fmt::format("{} is missing: {} is here without its development package",
                                    failure.name, component);
        finding.evidence.push_back({path, "the library alone"});
        break;
      }
    }
  }
  const auto with_cccl =
      std::find_if(context.snapshot.toolkits.begin(), context.snapshot.toolkits.end(),
                   [](const auto& kit) { return !kit.cccl.empty(); });
  if (component == "cccl" && with_cccl != context.snapshot.toolkits.end()) {
    finding.cause = fmt::format("CCCL {} is here and has no {}", with_cccl->cccl, failure.name);
    finding.evidence.push_back({with_cccl->cccl_include, "CCCL " + with_cccl->cccl});
    finding.fix = {by_hand("look at the name: another release of CCCL may have it, or none",
                           "the header's name is the code's")};
    return &finding;
  }
  finding.fix = {install_headers(context, prefix, std::string(component))};
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

Finding* missing_library(const Context& context, const Failure& failure, Findings& findings) {
  const bool is_link = failure.name.starts_with("-l");
  const auto base =
      is_link ? "lib" + failure.name.substr(2) + ".so" : std::string(survey::name_of(failure.name));
  const auto stem = base.substr(0, base.find(".so"));
  auto& finding = findings.add(is_link ? RuleId::library_missing : RuleId::library_not_found, base);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  const bool is_by_linker = is_link || failure.tool == "ld" || failure.tool == "gold" ||
                            failure.tool == "lld" || failure.tool == "mold";
  std::vector<std::pair<std::string, std::string>> there; // the very name first
  for (const auto& kit : context.snapshot.toolkits) {
    for (const auto& [file, path] : kit.libraries) {
      if (file == base) {
        there.emplace(there.begin(), file, path);
      } else if (file.starts_with(stem + ".so")) {
        there.emplace_back(file, path);
      }
    }
  }
  for (const auto& [file, path] : there) {
    if (finding.fix.empty()) {
      finding.cause = fmt::format("{} is in {}, where {} does not look", file, folder_of(path),
                                  is_by_linker ? "the linker" : "the loader");
      finding.fix.push_back(by_command(
          put_first(is_link ? "LIBRARY_PATH" : "LD_LIBRARY_PATH", folder_of(path)),
          is_link && file != base ? "together with a link of that name: ln -s " + file + " " + base
                                  : "it is then found"));
    }
    finding.evidence.push_back({path, "is here"});
  }
  if (!finding.fix.empty()) {
    return &finding;
  }
  const auto component = component_of(base);
  finding.cause = fmt::format("{} is wanted and is nowhere here", base);
  if (!component.empty()) {
    finding.fix = {
        by_hand(fmt::format("install {} of the CUDA major that {} was built for", component,
                            value_or(survey::name_of(failure.file), "the program")),
                "it brings the library"),
        cukit_fix(context, {})};
  } else {
    finding.fix = {
        by_hand(fmt::format("install the package that brings {}, or name its folder with "
                            "{}",
                            base, is_link ? "-L" : "LD_LIBRARY_PATH"),
                "it is then found")};
  }
  return &finding;
}

} // namespace cukit::doctor
