// Headers and libraries that a log misses: are they here, and who should have looked?
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"
#include "survey/root_view.hpp"

#include <algorithm>
#include <array>

namespace cukit::doctor {

namespace {

using buildlog::Failure;

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

const buildlog::Command* command_of(const Context& context, const Failure& failure) {
  const auto& commands = context.log.facts.commands;
  return failure.command == 0 || failure.command > commands.size() ? nullptr
                                                                   : &commands[failure.command - 1];
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

namespace {

/// A file that a wheel says is its own and that is not there: the wheel has to bring it again.
Finding* pruned_from_wheel(const Context& context, const std::string& name, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    for (const auto& clobber : python.clobbers) {
      if (clobber.state == "gone" && clobber.path.ends_with("/include/" + name)) {
        auto& finding = findings.add(RuleId::wheel_files_gone, python.prefix);
        return finding.cause.empty() ? nullptr : &finding;
      }
    }
  }
  return nullptr;
}

} // namespace

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
      finding.fix.push_back(by_command(set_variable("CUDNN_PATH", survey::parent_of(folder)),
                                       "torch's builder reads CUDNN_HOME and CUDNN_PATH alone"));
    }
    return &finding;
  }
  if (auto* finding = pruned_from_wheel(context, failure.name, findings)) {
    return finding;
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
  if (auto* finding =
          explain_name(context, knowledge::NameKind::header, failure.name, failure, findings)) {
    return finding;
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

bool blame_library_path(const Context& context, std::string_view component, Finding& finding) {
  const auto value = variable(context.snapshot, "LD_LIBRARY_PATH");
  for (const auto& folder : context.snapshot.library_path) {
    const auto library =
        std::find_if(folder.libraries.begin(), folder.libraries.end(),
                     [&](const auto& item) { return component_of(item.first) == component; });
    if (component.empty() || library == folder.libraries.end()) {
      continue;
    }
    finding.cause = fmt::format("LD_LIBRARY_PATH names {}, whose {} comes before the library that "
                                "the program was linked with, and lacks what it needs",
                                folder.path, library->first);
    finding.evidence.push_back(
        {folder.path + "/" + library->first,
         folder.nvjitlink.empty() ? "is what the loader takes" : "is of " + folder.nvjitlink});
    std::vector<std::string> others;
    for (const auto part : split(value, ':')) {
      if (!part.empty() && part != folder.path) {
        others.emplace_back(part);
      }
    }
    finding.fix = {by_command(others.empty() ? unset_variables({"LD_LIBRARY_PATH"})
                                             : set_variable("LD_LIBRARY_PATH", join(others, ":")),
                              "the loader then follows the program's own RUNPATH and its cache")};
    return true;
  }
  return false;
}

Finding* missing_library(const Context& context, const Failure& failure, Findings& findings) {
  const bool is_link = failure.name.starts_with("-l");
  const auto base =
      is_link ? "lib" + failure.name.substr(2) + ".so" : std::string(survey::name_of(failure.name));
  const auto stem = base.substr(0, base.find(".so"));
  const auto is_here = [&](const survey::Toolkit& kit) {
    return std::any_of(kit.libraries.begin(), kit.libraries.end(),
                       [&](const auto& item) { return item.first.starts_with(stem + ".so"); });
  };
  const auto& kits = context.snapshot.toolkits;
  if (std::none_of(kits.begin(), kits.end(), is_here)) {
    if (auto* finding = library_of_other_release(context, stem, failure, findings)) {
      return finding;
    }
  }
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
      finding.cause =
          fmt::format("{} is in {}, where {} does not look", file, survey::parent_of(path),
                      is_by_linker ? "the linker" : "the loader");
      finding.fix.push_back(by_command(
          put_first(is_link ? "LIBRARY_PATH" : "LD_LIBRARY_PATH", survey::parent_of(path)),
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
