// What a tree lacks for the consumers that use it: folders, names, headers, tools.
#include "base/strings.hpp"
#include "doctor/packages.hpp"
#include "model/tree_layout.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

bool has_folder(const survey::Toolkit& kit, std::string_view folder) {
  return std::find(kit.library_folders.begin(), kit.library_folders.end(), folder) !=
         kit.library_folders.end();
}

bool has_targets(const survey::Toolkit& kit) {
  return std::any_of(kit.library_folders.begin(), kit.library_folders.end(),
                     [](const auto& folder) { return folder.starts_with("targets/"); });
}

/// Folders that LIBRARY_PATH gives the linker hold this name.
bool is_rescued(const Context& context, const std::string& name) {
  const auto value = variable(context.snapshot, "LIBRARY_PATH");
  for (const auto folder : split(value, ':')) {
    const auto* kit = folder.empty() ? nullptr : survey::toolkit_of(context.snapshot, folder);
    if (kit != nullptr &&
        (kit->libraries.contains(name) || kit->libraries.contains("stubs/" + name))) {
      return true;
    }
  }
  const auto adds_folder = [&](const std::string& flags) {
    return variable(context.snapshot, flags).find("-L") != std::string::npos;
  };
  return context.snapshot.system_libraries.contains(name) ||
         std::any_of(context.recipes.begin(), context.recipes.end(), [&](const auto& recipe) {
           return std::any_of(recipe.reach.flags.begin(), recipe.reach.flags.end(), adds_folder);
         });
}

bool has_libraries(const survey::Toolkit& kit) {
  return std::any_of(kit.libraries.begin(), kit.libraries.end(),
                     [](const auto& library) { return library.first.starts_with("libcudart"); });
}

/// Whether nvcc's own profile leads to the libraries of its tree.
bool nvcc_finds_libraries(const survey::Toolkit& kit) {
  return kit.profile != "target" || has_folder(kit, "lib64") || has_targets(kit);
}

void library_folder(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto* kit = found.kit;
    const auto& wanted = context.recipe(found).discovery.libraries;
    if (found.compiles != "nvcc" || kit == nullptr || !has_libraries(*kit) || found.nvcc.empty()) {
      continue;
    }
    const bool is_linked_by_nvcc = is_any_build(found) && !nvcc_finds_libraries(*kit);
    const bool is_linked_by_folder = !wanted.empty() && found.libraries.empty();
    if ((!is_linked_by_nvcc && !is_linked_by_folder) || is_rescued(context, "libcudart.so")) {
      continue;
    }
    auto& finding = findings.add(RuleId::library_folder_missing, kit->real);
    finding.consumers.push_back(found.consumer);
    if (finding.evidence.empty()) {
      finding.cause = fmt::format("the libraries of {} are in lib; {} links with lib64", kit->root,
                                  is_linked_by_nvcc ? "nvcc of this release" : found.consumer);
      finding.evidence = {{kit->root + "/lib64", "not there"},
                          {kit->root + "/lib", "holds the libraries"}};
      if (is_linked_by_nvcc) {
        finding.evidence.push_back({kit->root + "/bin/nvcc.profile", "looks into lib64"});
      }
      finding.fix = {
          by_command(add_link("lib", kit->root + "/lib64"), "the name that is looked for"),
          cukit_fix(context, finding.consumers)};
    }
  }
}

void library_names(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto* kit = found.kit;
    if (found.compiles != "nvcc" || kit == nullptr || found.nvcc.empty()) {
      continue;
    }
    for (const auto& name : context.recipe(found).discovery.links) {
      const auto plain = fmt::format("lib{}.so", name);
      const auto versioned =
          std::find_if(kit->libraries.begin(), kit->libraries.end(),
                       [&](const auto& library) { return library.first.starts_with(plain + "."); });
      if (name == "cuda" || kit->libraries.contains(plain) || versioned == kit->libraries.end() ||
          is_rescued(context, plain)) {
        continue;
      }
      auto& finding = findings.add(RuleId::library_name_missing, kit->real);
      finding.consumers.push_back(found.consumer);
      if (finding.evidence.empty()) {
        finding.cause =
            fmt::format("-l{} needs {}, and there is {} alone", name, plain, versioned->first);
        finding.evidence = {{versioned->second, "the only name"},
                            {kit->root + "/lib/" + plain, "not there"}};
        const auto folder = versioned->second.substr(0, versioned->second.rfind('/'));
        finding.fix = {by_command(add_link(versioned->first, folder + "/" + plain),
                                  "the name that ld looks for"),
                       cukit_fix(context, finding.consumers)};
      }
    }
  }
}

void stub(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto* kit = found.kit;
    const auto& links = context.recipe(found).discovery.links;
    if (found.compiles != "nvcc" || kit == nullptr || found.nvcc.empty() || !has_libraries(*kit) ||
        std::find(links.begin(), links.end(), "cuda") == links.end() ||
        kit->libraries.contains("stubs/libcuda.so") || kit->libraries.contains("libcuda.so") ||
        is_rescued(context, "libcuda.so")) {
      continue;
    }
    auto& finding = findings.add(RuleId::stub_missing, kit->real);
    finding.consumers.push_back(found.consumer);
    if (finding.evidence.empty()) {
      finding.cause = fmt::format(
          "-lcuda: neither {}/lib64/stubs nor the loader's folders hold libcuda.so", kit->root);
      finding.evidence = {{kit->root + "/lib64/stubs/libcuda.so", "not there"}};
      finding.fix = {cukit_fix(context, finding.consumers),
                     install_component(context, *kit, "driver", minor_of(found.nvcc_version))};
    }
  }
}

void crt_missing(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    if (tree.kit->cudart.empty() || tree.kit->headers.contains("crt/host_defines.h") ||
        tree.kit->headers.contains("crt/host_config.h")) {
      continue;
    }
    auto& finding = findings.add(RuleId::crt_missing, tree.kit->real);
    finding.cause = fmt::format("{} holds the runtime's headers, but no crt", tree.kit->include);
    finding.evidence = {{tree.kit->include + "/crt/host_defines.h", "not there"}};
    weigh(finding, tree.users);
    if (is_wheel_tree(*tree.kit)) {
      finding.fix.push_back(by_command(
          pip_install(
              context, tree.kit->environment,
              {metapackage(context, tree.kit->environment, tree.kit->cudart, "crt,nvcc,nvvm")}),
          "crt of the headers' release"));
    }
    finding.fix.push_back(cukit_fix(context, tree.users));
    finding.fix.push_back(
        by_hand("join the outputs of nvcc and cudart into one tree (Nix: symlinkJoin; "
                "distributions: install the nvcc development package)",
                "crt comes with nvcc there"));
  }
}

/// The headers from where the compiler came from: those of a wheel do not lie beside another nvcc.
Fix headers_of(const Context& context, const survey::Toolkit* compiler, const std::string& prefix,
               const std::string& minor) {
  if (compiler != nullptr && !is_wheel_tree(*compiler)) {
    return compiler->environment.empty()
               ? install_component(context, *compiler, "cudart", minor)
               : conda_install(compiler->environment, {"cuda-version=" + minor, "cuda-cudart-dev"},
                               "the headers of the compiler's minor");
  }
  const auto project = wheel_for("nvidia-cuda-runtime", minor);
  return by_command(pip_install(context, prefix, {fmt::format("{}=={}.*", project, minor)}),
                    "the headers of the compiler's minor");
}

void runtime_headers(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const bool is_nvrtc_alone = found.compiles == "nvrtc" && found.kit == nullptr;
    const bool is_nvcc_alone = found.compiles == "nvcc" && found.compiler != nullptr &&
                               !found.compiler->tools.at("nvcc").is_link &&
                               !found.compiler->headers.contains("cuda_runtime.h") &&
                               !found.compiler->headers.contains("vector_types.h");
    if (!is_nvrtc_alone && !is_nvcc_alone) {
      continue;
    }
    const auto prefix = found.python != nullptr ? found.python->prefix : std::string();
    auto& finding =
        findings.add(RuleId::headers_missing, is_nvcc_alone ? found.compiler->real : prefix);
    finding.consumers.push_back(found.consumer);
    if (!finding.evidence.empty()) {
      continue;
    }
    std::string minor = minor_of(found.nvcc_version);
    if (is_nvcc_alone) {
      finding.cause =
          fmt::format("nvcc of {} has no cuda_runtime.h and vector_types.h", found.compiler->root);
      finding.evidence = {{found.nvcc, "nvcc " + found.nvcc_version},
                          {found.compiler->root + "/include/cuda_runtime.h", "not there"}};
    } else {
      finding.cause = fmt::format(
          "{} compiles with NVRTC and finds no folder with the CUDA headers", found.consumer);
      for (const auto& look : found.looked) {
        finding.evidence.push_back({look.where, look.outcome});
      }
      for (const auto& kit : context.snapshot.toolkits) {
        for (const auto& [name, path] : kit.libraries) {
          if (name.starts_with("libnvrtc-builtins.so.")) {
            minor = name.substr(std::string_view("libnvrtc-builtins.so.").size());
          }
        }
      }
    }
    finding.fix = {headers_of(context, is_nvcc_alone ? found.compiler : nullptr, prefix,
                              minor.empty() ? "13.0" : minor),
                   cukit_fix(context, finding.consumers)};
  }
}

constexpr std::pair<const char*, const char*> k_math_headers[] = {{"curand", "curand.h"},
                                                                  {"cublas", "cublas_v2.h"},
                                                                  {"cusparse", "cusparse.h"},
                                                                  {"cusolver", "cusolverDn.h"}};

void math_headers(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto& recipe = context.recipe(found);
    if (found.compiler == nullptr || found.compiler->cudart.empty() || recipe.headers.empty()) {
      continue;
    }
    std::vector<std::string> missing;
    for (const auto& [component, header] : k_math_headers) {
      if (std::find(recipe.headers.begin(), recipe.headers.end(), component) !=
              recipe.headers.end() &&
          !found.compiler->headers.contains(header)) {
        missing.emplace_back(header);
      }
    }
    if (missing.empty()) {
      continue;
    }
    auto& finding = findings.add(RuleId::math_headers_missing, found.compiler->real);
    finding.consumers.push_back(found.consumer);
    if (finding.evidence.empty()) {
      finding.cause = fmt::format("{} has no {}", found.compiler->include, join(missing, ", "));
      for (const auto& header : missing) {
        finding.evidence.push_back({found.compiler->include + "/" + header, "not there"});
      }
      if (is_wheel_tree(*found.compiler)) {
        finding.fix.push_back(by_command(
            pip_install(context, found.compiler->environment,
                        {metapackage(context, found.compiler->environment, found.compiler->cudart,
                                     "curand,cublas,cusparse,cusolver")}),
            "the maths libraries with their headers"));
      }
      finding.fix.push_back(cukit_fix(context, finding.consumers));
      if (found.compiler->environment.empty()) {
        finding.fix.push_back(install_toolkit(context, minor_of(found.compiler->cudart)));
      }
    }
  }
}

void tools(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    for (const auto& name : context.recipe(found).discovery.tools) {
      if (found.kit == nullptr || found.nvcc.empty() || found.kit->tools.contains(name)) {
        continue;
      }
      auto& finding = findings.add(RuleId::tool_missing, found.kit->real);
      finding.consumers.push_back(found.consumer);
      finding.cause = fmt::format("{} runs {}/bin/{}, which is not there", found.consumer,
                                  found.kit->root, name);
      finding.evidence = {{found.kit->root + "/bin/" + name, "not there"}};
      finding.fix = {
          is_wheel_tree(*found.kit)
              ? by_command(pip_install(context, found.kit->environment, {"nvidia-cuda-" + name}),
                           "the wheel with this tool (from 13.2 on; it reads older binaries)")
              : install_component(context, *found.kit, name, minor_of(found.nvcc_version)),
          cukit_fix(context, finding.consumers)};
    }
  }
}

void dlto(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    if (is_wheel_tree(*tree.kit) && !has_folder(*tree.kit, "nvvm/lib64") && !tree.users.empty()) {
      auto& finding = findings.add(RuleId::dlto_library_missing, tree.kit->real);
      finding.cause =
          fmt::format("{} has no nvvm/lib64/libnvvm.so, which nvlink opens", tree.kit->root);
      finding.evidence = {{tree.kit->root + "/nvvm/lib64/libnvvm.so", "not there"}};
      finding.consumers = tree.users;
      const auto folder = tree.kit->root + "/nvvm/lib64";
      const std::string library = "../../lib/libnvvm.so.4";
      finding.fix = {
          by_command(Action(ShellCommand({"mkdir", "-p", folder}), {AddsLink{folder, folder}})
                         .then(add_link(library, folder + "/libnvvm.so"))
                         .then(add_link(library, folder + "/libnvvm.so.4")),
                     "the names that nvlink opens")};
    }
  }
}

using Step = knowledge::DiscoveryStep;

/// The options, variables and folders among a consumer's places; what is in a wheel nobody sets.
std::vector<std::string> places_of_libdevice(const knowledge::Consumer& recipe) {
  std::vector<std::string> places;
  for (const auto& step : recipe.discovery.root) {
    if (step.kind == Step::Kind::flag) {
      places.push_back(step.option.substr(0, step.option.find('=')));
    } else if (step.kind == Step::Kind::variable || step.kind == Step::Kind::folder) {
      places.push_back(step.argument);
    }
  }
  return places;
}

/// The first variable that leads a consumer to a root; no command: it looks at none.
Action way_to_be_told(const knowledge::Consumer& recipe, const std::string& root) {
  for (const auto& step : recipe.discovery.root) {
    if (step.kind == Step::Kind::flag) {
      return set_variable(step.argument, step.option + root);
    }
    if (step.kind == Step::Kind::variable) {
      return set_variable(step.argument, root);
    }
  }
  return {};
}

void libdevice(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    if (!context.recipe(found).discovery.needs_libdevice || found.compiles == "nvrtc" ||
        (found.kit != nullptr && !found.kit->libdevice.empty())) {
      continue;
    }
    const auto has = [](const auto& kit) { return !kit.libdevice.empty(); };
    const auto& kits = context.snapshot.toolkits;
    const auto other = std::find_if(kits.begin(), kits.end(), has);
    if (other == kits.end() && found.kit == nullptr && found.ptxas.empty()) {
      continue; // no toolkit at all: the driver then compiles
    }
    auto& finding = findings.add(RuleId::libdevice_missing, found.consumer);
    finding.consumers = {found.consumer};
    finding.cause =
        fmt::format("{} looks at {}, and none has {}", found.recipe->title,
                    join_with_and(places_of_libdevice(*found.recipe)), layout::k_libdevice);
    for (const auto& look : found.looked) {
      finding.evidence.push_back({look.where, look.outcome});
    }
    if (other != kits.end()) {
      finding.evidence.push_back({other->libdevice, "is there, but nobody looks"});
      if (const auto way = way_to_be_told(*found.recipe, other->root); !way.command.empty()) {
        finding.fix.push_back(
            by_command(way, fmt::format("{}'s own way to be told", found.recipe->title)));
      }
    }
    finding.fix.push_back(cukit_fix(context, finding.consumers));
  }
}

} // namespace

const std::vector<Rule>& layout_rules() {
  static const std::vector<Rule> rules = {library_folder,  library_names, stub,  crt_missing,
                                          runtime_headers, math_headers,  tools, dlto,
                                          libdevice};
  return rules;
}

} // namespace cukit::doctor
