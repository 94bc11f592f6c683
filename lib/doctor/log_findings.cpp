// Findings that only a log knows: what they say and what they advise.
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <map>

namespace cukit::doctor {

namespace {

/// Where a library that the loader missed really is.
void mention_library(const Context& context, const Hit& hit, Finding& finding) {
  const auto at = hit.text.find("lib");
  const auto end = hit.text.find(": cannot open");
  const auto name =
      at == std::string::npos || end == std::string::npos || end < at
          ? std::string()
          : hit.text.substr(hit.text.rfind("lib", end), end - hit.text.rfind("lib", end));
  finding.cause = fmt::format("{} is wanted, and the loader does not find it",
                              value_or(name, "a library of CUDA"));
  for (const auto& kit : context.snapshot.toolkits) {
    if (const auto found = kit.libraries.find(name); found != kit.libraries.end()) {
      finding.evidence.push_back({found->second, "is there, but not in the loader's path"});
      const auto folder = found->second.substr(0, found->second.rfind('/'));
      finding.fix.push_back(
          by_command(set_variable("LD_LIBRARY_PATH", folder), "for the program that needs it"));
      break;
    }
  }
  if (finding.fix.empty()) {
    finding.cause += "; no toolkit or wheel here has it";
    const auto dot = name.rfind(".so.");
    const auto major = dot == std::string::npos ? std::string() : name.substr(dot + 4);
    finding.fix = {by_hand(
        fmt::format(
            "install the wheel of the package that was built for this CUDA, or CUDA {} beside it",
            major),
        "the major that it was linked to")};
  }
  for (const auto& python : context.snapshot.pythons) {
    if (!python.torch.empty()) {
      finding.evidence.push_back({python.prefix, "torch " + python.torch});
    }
  }
}

void say_moved(const Context& context, const Hit& /*hit*/, Finding& finding) {
  for (const auto& kit : context.snapshot.toolkits) {
    if (kit.headers.contains("cccl/nv/target")) {
      finding.evidence.push_back({kit.include + "/cccl", "holds CCCL " + kit.cccl});
      finding.fix.push_back(by_command(
          set_variable("CPLUS_INCLUDE_PATH", kit.include + "/cccl"),
          fmt::format("g++ finds what nvcc finds by itself; or add -I{}/cccl to the build",
                      kit.include)));
      return;
    }
  }
}

void say_build_environment(const Context& context, const Hit& /*hit*/, Finding& finding) {
  const auto& packages = context.log.facts.packages;
  const auto* effect = "the build uses the torch that is installed";
  finding.fix = {
      packages.empty()
          ? by_hand("install the package with --no-build-isolation", effect)
          : by_command(
                pip_install(context, "", {packages.front()}, {"--no-build-isolation"}).command,
                effect)};
  for (const auto& python : context.snapshot.pythons) {
    if (!python.torch.empty()) {
      finding.evidence.push_back(
          {python.prefix, "torch " + python.torch + " is what is installed"});
    }
  }
}

void say_import(const Context& /*context*/, const Hit& /*hit*/, Finding& finding) {
  finding.fix = {
      by_hand("import torch.utils.cpp_extension", "in the script, before it uses the module")};
}

void say_stub(const Context& context, const Hit& hit, Finding& finding) {
  const auto name = hit.captures.empty() ? std::string() : hit.captures.front();
  finding.cause = fmt::format("{} is a placeholder", name);
  finding.fix = {by_command(pip_install(context, "", {name.substr(0, name.rfind("-cu"))}),
                            "the real package has no suffix")};
}

void say_scan(const Context& /*context*/, const Hit& /*hit*/, Finding& finding) {
  finding.fix = {by_hand("-DCCCL_DISABLE_CTK_COMPATIBILITY_CHECK",
                         "for the scan alone (CCCL 3.2 and newer); the compile itself is right")};
}

void say_old_cccl(const Context& context, const Hit& /*hit*/, Finding& finding) {
  const auto trees = trees_with_nvcc(context);
  if (!trees.empty()) {
    finding.evidence.push_back(
        {trees.front().kit->cccl_include, "CCCL " + value_or(trees.front().kit->cccl, "unknown")});
  }
  finding.fix = {by_hand("put the project's own CCCL on -I, before everything else",
                         "it is newer than the toolkit's"),
                 cukit_fix(context, {})};
}

void say_ptx(const Context& context, const Hit& /*hit*/, Finding& finding) {
  finding.evidence.push_back(
      {"driver", context.driver ? machine::driver_text(*context.driver) : "not known"});
  finding.fix = {
      by_hand("compile SASS for the GPU (-gencode arch=compute_XX,code=sm_XX), or take a "
              "toolkit no newer than the driver's CUDA",
              "nvidia-smi shows the driver's CUDA")};
}

void say_mixed(const Context& context, const Hit& /*hit*/, Finding& finding) {
  if (!context.log.facts.cccl_namespace.empty()) {
    finding.evidence.push_back(
        {"namespace _V_ in the log", "CCCL " + context.log.facts.cccl_namespace + " was compiled"});
  }
  for (const auto& kit : context.snapshot.toolkits) {
    if (!kit.cccl.empty()) {
      finding.evidence.push_back({kit.cccl_include, "CCCL " + kit.cccl});
    }
  }
  finding.fix = {by_hand("keep one CCCL on the include path: the project's own with -I before the "
                         "toolkit's, or the toolkit's alone",
                         "cuda, cub, thrust and nv of one release"),
                 cukit_fix(context, {})};
}

void say_variable(const Context& context, const Hit& /*hit*/, Finding& finding) {
  finding.evidence.push_back(
      {"CUDA_HOME", value_or(variable(context.snapshot, "CUDA_HOME"), "as the message shows it")});
  const auto trees = trees_with_nvcc(context);
  finding.fix = {by_command(trees.empty() ? set_variable("CUDA_HOME", "/usr/local/cuda")
                                          : use_tree(trees.front().kit->root),
                            "a plain absolute path of a folder with bin/nvcc")};
}

void say_compiler(const Context& context, const Hit& /*hit*/, Finding& finding) {
  finding.fix = {install_gxx(context)};
}

void say_link(const Context& context, const Hit& hit, Finding& finding) {
  const auto dash = hit.text.find("-l");
  auto name = dash == std::string::npos ? std::string("cudart") : hit.text.substr(dash + 2);
  name = name.substr(0, name.find_first_of(": '\""));
  for (const auto& kit : context.snapshot.toolkits) {
    const auto has = [&](const char* folder) {
      return std::find(kit.library_folders.begin(), kit.library_folders.end(), folder) !=
             kit.library_folders.end();
    };
    if (finding.id == text_of(RuleId::library_folder_missing) && kit.tools.contains("nvcc") &&
        has("lib") && !has("lib64")) {
      finding.evidence.push_back({kit.root + "/lib64", "not there"});
      finding.fix.push_back(
          by_command(add_link("lib", kit.root + "/lib64"), "the name that is looked for"));
    }
    for (const auto& [file, path] : kit.libraries) {
      if (file.starts_with("lib" + name + ".so.") && finding.evidence.empty()) {
        const auto link = path.substr(0, path.rfind('/')) + "/lib" + name + ".so";
        finding.evidence.push_back({path, "the only name"});
        finding.fix.push_back(by_command(add_link(file, link), "the name that ld looks for"));
      }
    }
  }
  finding.fix.push_back(cukit_fix(context, {}));
}

/// The library is told by the symbol that it lacks.
void say_shadowed(const Context& context, const Hit& hit, Finding& finding) {
  const auto at = hit.text.find("undefined symbol: ");
  const auto symbol = at == std::string::npos ? std::string() : hit.text.substr(at + 18);
  const auto begin = symbol.find_first_not_of('_');
  if (begin == std::string::npos ||
      !blame_library_path(context, component_of(symbol.substr(begin)), finding)) {
    finding.fix.push_back(cukit_fix(context, {}));
  }
}

using Say = void (*)(const Context&, const Hit&, Finding&);

} // namespace

void fill_from_log(const Context& context, const Hit& hit, Finding& finding) {
  static const std::map<RuleId, Say> known = {
      {RuleId::library_not_found, mention_library},
      {RuleId::extension_cuda_differs, mention_library},
      {RuleId::cccl_moved, say_moved},
      {RuleId::nvcc_in_pip_build_environment, say_build_environment},
      {RuleId::incomplete_import, say_import},
      {RuleId::stub_distribution, say_stub},
      {RuleId::library_path_shadows, say_shadowed},
      {RuleId::host_scan_of_cuda_source, say_scan},
      {RuleId::cccl_too_old_for_code, say_old_cccl},
      {RuleId::driver_older_than_ptx, say_ptx},
      {RuleId::cccl_mixed, say_mixed},
      {RuleId::variable_malformed, say_variable},
      {RuleId::variable_wrong_folder, say_variable},
      {RuleId::host_compiler_missing, say_compiler},
      {RuleId::library_name_missing, say_link},
      {RuleId::library_folder_missing, say_link}};
  finding.cause = hit.message->means;
  const auto say = std::find_if(known.begin(), known.end(),
                                [&](const auto& one) { return text_of(one.first) == finding.id; });
  if (say == known.end()) {
    finding.fix.push_back(cukit_fix(context, {}));
  } else {
    say->second(context, hit, finding);
  }
}

} // namespace cukit::doctor
