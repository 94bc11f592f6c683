// Parts of one tree that must belong together: nvcc, headers, cicc, ptxas, nvlink, crt, CCCL.
#include "base/strings.hpp"
#include "doctor/packages.hpp"
#include "fit/parts.hpp"
#include "model/tree_layout.hpp"
#include "survey/root_view.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

std::string owner(const survey::Toolkit& kit, const char* dist) {
  const auto found = kit.owners.find(dist);
  return found == kit.owners.end() ? std::string() : found->second;
}

std::string path_in(const survey::Toolkit& kit, std::string_view place) {
  return fmt::format("{}/{}", kit.root, place);
}

std::string version_of(const survey::Toolkit& kit, const char* tool) {
  const auto found = kit.tools.find(tool);
  return found == kit.tools.end() ? std::string() : found->second.version;
}

/// The release that the rest of a wheel tree is of: torch's own where there is a torch, since its
/// pins come back with every install; else the headers'.
std::string release_to_match(const Context& context, const survey::Toolkit& kit) {
  const auto* python = python_of(context.snapshot, kit.environment);
  if (python != nullptr && !python->torch_cuda.empty() &&
      (kit.cudart.empty() || kit.cudart == minor_of(python->torch_cuda))) {
    return minor_of(python->torch_cuda);
  }
  return kit.cudart.empty() ? minor_of(version_of(kit, "nvcc")) : kit.cudart;
}

/// How to bring the compiler parts of a tree to one release.
void add_match_fix(const Context& context, const survey::Toolkit& kit, Finding& finding) {
  const auto minor = release_to_match(context, kit);
  if (is_wheel_tree(kit)) {
    finding.fix.push_back(by_command(
        pip_install(context, kit.environment,
                    {metapackage(context, kit.environment, minor, "nvcc,crt,nvvm,cccl")}),
        fmt::format("nvcc, cicc, ptxas, crt and CCCL of {}, the release of the headers", minor)));
  } else if (std::find(kit.found_by.begin(), kit.found_by.end(), "conda") != kit.found_by.end()) {
    finding.fix.push_back(conda_install(kit.environment,
                                        {"cuda-version=" + minor, "cuda-nvcc", "cuda-cudart-dev"},
                                        "one release for all of CUDA's packages"));
  }
  finding.fix.push_back(cukit_fix(context, finding.consumers));
  if (!is_wheel_tree(kit)) {
    finding.fix.push_back(
        by_hand(fmt::format("install all of CUDA {} again into {}", minor, kit.root),
                "every part of one release"));
  }
}

/// pip counts a package as installed whatever became of its files.
void add_reinstall(const Context& context, const survey::Toolkit& kit, const char* dist,
                   Finding& finding) {
  if (const auto version = owner(kit, dist); !version.empty()) {
    finding.fix.push_back(
        by_command(pip_install(context, kit.environment, {fmt::format("{}=={}", dist, version)},
                               {"--force-reinstall", "--no-deps"}),
                   "the files as the wheel brings them"));
  }
}

void linked_alone(const Context& context, Findings& findings) {
  for (const auto& kit : context.snapshot.toolkits) {
    const auto nvcc = kit.tools.find("nvcc");
    if (nvcc == kit.tools.end() || !nvcc->second.is_link || kit.has_profile_beside_nvcc) {
      continue;
    }
    std::vector<std::string> users;
    for (const auto& found : context.found) {
      if (found.nvcc == nvcc->second.path) {
        users.push_back(found.consumer);
      }
    }
    auto& finding = findings.add(RuleId::nvcc_linked_alone, kit.real);
    finding.cause = fmt::format("{} is a link to {}, and no nvcc.profile lies beside it",
                                nvcc->second.path, nvcc->second.real);
    finding.evidence = {{nvcc->second.path, "a link to " + nvcc->second.real}};
    const auto real_root = nvcc->second.real.substr(0, nvcc->second.real.rfind("/bin/"));
    const auto& path = nvcc->second.path;
    const auto line =
        ShellCommand({"exec", nvcc->second.real}).with_arguments_of_the_script().text();
    finding.fix = {
        by_command(use_tree(real_root), "the real file, with its profile beside it"),
        by_command(ShellCommand({"rm", path})
                       .then(ShellCommand({"printf", "%s\\n", "#!/bin/sh", line}).into(path))
                       .then(ShellCommand({"chmod", "+x", path})),
                   "a script instead of the link")};
    weigh(finding, users);
  }
}

void headers(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    if (!is_refused(fit::minor_part, tree.nvcc->version, tree.kit->cudart)) {
      continue;
    }
    auto& finding = findings.add(RuleId::headers_differ, tree.kit->real);
    finding.cause =
        fmt::format("nvcc is {}, its headers say {}", tree.nvcc->version, tree.kit->cudart);
    finding.evidence = {
        {tree.nvcc->path, "nvcc " + tree.nvcc->version},
        {tree.kit->include + "/cuda_runtime_api.h", "CUDART_VERSION " + tree.kit->cudart}};
    for (const char* dist : {"nvidia-cuda-nvcc", "nvidia-cuda-runtime", "nvidia-cuda-cccl"}) {
      if (const auto version = owner(*tree.kit, dist); !version.empty()) {
        finding.evidence.push_back({dist, version});
      }
    }
    if (const auto* python = python_of(context.snapshot, tree.kit->environment);
        python != nullptr && !python->torch.empty()) {
      finding.evidence.push_back(
          {"torch", fmt::format("{} pins the headers to {}", python->torch, python->torch_cuda)});
    }
    weigh(finding, tree.users);
    add_match_fix(context, *tree.kit, finding);
  }
}

/// PTX that cicc of a release writes, or that ptxas of it reads at most.
std::string ptx_of(const Context& context, const std::string& version) {
  const auto* release = release_of(context, version);
  return release == nullptr ? std::string() : release->ptx.text();
}

void cicc(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    auto cicc_version = version_of(*tree.kit, "cicc");
    if (cicc_version.empty() && is_wheel_tree(*tree.kit)) {
      cicc_version = owner(*tree.kit, "nvidia-nvvm");
    }
    auto ptxas_version = version_of(*tree.kit, "ptxas");
    if (ptxas_version.empty()) {
      ptxas_version = tree.nvcc->version;
    }
    if (!is_refused(fit::reads_ptx, cicc_version, ptxas_version)) {
      continue;
    }
    auto& finding = findings.add(RuleId::cicc_differs, tree.kit->real);
    finding.cause =
        fmt::format("cicc is {} and writes PTX {}, ptxas is {} and reads up to {}", cicc_version,
                    value_or(ptx_of(context, cicc_version), "of its release"), ptxas_version,
                    value_or(ptx_of(context, ptxas_version), "its own"));
    const auto tool = tree.kit->tools.find("cicc");
    finding.evidence = {
        {tool == tree.kit->tools.end() ? "nvidia-nvvm" : tool->second.path, "cicc " + cicc_version},
        {path_in(*tree.kit, layout::k_ptxas), "ptxas " + ptxas_version}};
    weigh(finding, tree.users);
    add_match_fix(context, *tree.kit, finding);
  }
}

/// Arguments that the stubs of a release pass to __cudaLaunch; 0: not known.
int expected_arguments(const Context& context, const std::string& nvcc) {
  const auto minor = Version::parse(minor_of(nvcc));
  return minor ? fit::launch_arguments(*minor, context.limits) : 0;
}

void crt(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    const auto dist = owner(*tree.kit, "nvidia-cuda-crt");
    const int expected = expected_arguments(context, tree.nvcc->version);
    const bool is_other_dist =
        is_wheel_tree(*tree.kit) && is_refused(fit::minor_part, tree.nvcc->version, dist);
    const bool is_other_call =
        expected != 0 && tree.kit->launch_arguments != 0 && tree.kit->launch_arguments != expected;
    if (!is_other_dist && !is_other_call) {
      continue;
    }
    auto& finding = findings.add(RuleId::crt_differs, tree.kit->real);
    finding.cause = is_other_call
                        ? fmt::format("stubs of nvcc {} call __cudaLaunch with {}, crt's takes {}",
                                      tree.nvcc->version, expected, tree.kit->launch_arguments)
                        : fmt::format("nvcc is {}, crt is {}", tree.nvcc->version, dist);
    finding.evidence = {{tree.nvcc->path, "nvcc " + tree.nvcc->version},
                        {tree.kit->include + "/crt/host_runtime.h",
                         dist.empty()
                             ? fmt::format("__cudaLaunch takes {}", tree.kit->launch_arguments)
                             : "nvidia-cuda-crt " + dist}};
    weigh(finding, tree.users);
    add_match_fix(context, *tree.kit, finding);
  }
}

void cccl_missing(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    const auto& kit = *tree.kit;
    if (kit.cudart.empty() || kit.headers.contains("nv/target") ||
        kit.headers.contains("cccl/nv/target")) {
      continue;
    }
    auto& finding = findings.add(RuleId::cccl_missing, kit.real);
    finding.cause =
        fmt::format("{} holds the CUDA headers, but neither nv/target nor cuda/std", kit.include);
    finding.evidence = {
        {kit.include + "/nv/target", "not there"},
        {kit.include + "/cccl", kit.cccl.empty() ? "not there" : "CCCL " + kit.cccl}};
    weigh(finding, tree.users);
    const auto minor = minor_of(tree.nvcc->version);
    if (is_wheel_tree(kit)) {
      finding.fix.push_back(by_command(
          pip_install(context, kit.environment,
                      {metapackage(context, kit.environment, release_to_match(context, kit),
                                   "nvcc,crt,nvvm,cccl")}),
          "CCCL, and a compiler of the same release with it"));
    } else if (kit.environment.empty()) {
      finding.fix.push_back(install_component(context, kit, "cccl", minor));
    } else {
      finding.fix.push_back(conda_install(kit.environment, {"cuda-cccl"}, "CCCL's headers"));
    }
    finding.fix.push_back(cukit_fix(context, finding.consumers));
  }
}

void cccl_mixed(const Context& context, Findings& findings) {
  for (const auto& kit : context.snapshot.toolkits) {
    std::string cause;
    std::vector<Evidence> evidence;
    if (kit.nv_target_cccl == "differs") {
      cause = "include/nv/target and include/cccl/nv/target are not of one release";
      evidence = {{kit.include + "/nv/target", "differs from cccl/nv/target"},
                  {kit.include + "/cccl", "CCCL " + kit.cccl}};
    } else if (differ(kit.cccl, kit.cccl_outer)) {
      cause =
          fmt::format("include/cccl holds CCCL {}, include itself {}", kit.cccl, kit.cccl_outer);
      evidence = {{kit.include + "/cccl", "CCCL " + kit.cccl},
                  {kit.include, "CCCL " + kit.cccl_outer}};
    } else {
      for (const auto& [name, version] : kit.cmake_packages) {
        for (const auto& [other, other_version] : kit.cmake_packages) {
          if (name < other && version != other_version) {
            cause = fmt::format("CMake packages: {} is {}, {} is {}", name, version, other,
                                other_version);
            evidence = {{kit.root + "/lib/cmake/" + name, version},
                        {kit.root + "/lib/cmake/" + other, other_version}};
          }
        }
      }
    }
    if (cause.empty()) {
      continue;
    }
    auto& finding = findings.add(RuleId::cccl_mixed, kit.real);
    finding.cause = cause;
    finding.evidence = evidence;
    std::vector<std::string> users;
    for (const auto& found : context.found) {
      if (found.compiler == &kit) {
        users.push_back(found.consumer);
      }
    }
    finding.fix.push_back(by_hand(
        fmt::format("remove the older copy below {}, or install CCCL of one release", kit.root),
        "include/cccl, include/nv and lib/cmake move together"));
    finding.fix.push_back(cukit_fix(context, users));
    weigh(finding, users);
  }
}

void cccl_older(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    const auto* release = release_of(context, tree.nvcc->version);
    const auto cccl = Version::parse(minor_of(tree.kit->cccl));
    if (release == nullptr || !cccl ||
        !fit::cccl_found(release->cccl, *cccl, context.limits).is_refused()) {
      continue;
    }
    auto& finding = findings.add(RuleId::cccl_older, tree.kit->real);
    finding.cause = fmt::format("CCCL is {}, CUDA {} brings {}", tree.kit->cccl,
                                minor_of(tree.nvcc->version), release->cccl.text());
    finding.evidence = {{tree.kit->cccl_include, "CCCL " + tree.kit->cccl},
                        {tree.nvcc->path, "nvcc " + tree.nvcc->version}};
    weigh(finding, tree.users);
    add_match_fix(context, *tree.kit, finding);
  }
}

void nvlink(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    const auto ptxas = version_of(*tree.kit, "ptxas");
    const auto linker = version_of(*tree.kit, "nvlink");
    if (!is_refused(fit::linker_of_minor, ptxas, linker)) {
      continue;
    }
    auto& finding = findings.add(RuleId::nvlink_differs, tree.kit->real);
    finding.cause = fmt::format("ptxas is {}, nvlink is {}", ptxas, linker);
    finding.evidence = {{path_in(*tree.kit, layout::k_ptxas), ptxas},
                        {path_in(*tree.kit, layout::k_nvlink), linker}};
    weigh(finding, tree.users);
    add_reinstall(context, *tree.kit, "nvidia-cuda-nvcc", finding);
    add_match_fix(context, *tree.kit, finding);
  }
}

void parts(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    if (tree.nvcc->wraps.empty() && tree.kit->tools.size() < 2 && tree.kit->include.empty()) {
      continue; // a lone nvcc is another rule's business
    }
    for (const auto place :
         {layout::k_ptxas, layout::k_cicc, layout::k_cudafe, layout::k_fatbinary}) {
      const std::string name(survey::name_of(place));
      if (tree.kit->tools.contains(name)) {
        continue;
      }
      const bool is_ptxas = place == layout::k_ptxas;
      const auto& others = context.snapshot.path_ptxas;
      auto& finding = findings.add(RuleId::part_missing, tree.kit->real);
      finding.evidence.push_back({path_in(*tree.kit, place), "not there"});
      if (is_ptxas && !others.empty()) {
        const auto* other = tool_at(context.snapshot, others.front());
        finding.evidence.push_back(
            {others.front(),
             "ptxas " + value_or(other == nullptr ? "" : other->version, "of an unknown version") +
                 ", in PATH: nvcc runs this one"});
      }
      finding.cause = finding.cause.empty()
                          ? fmt::format("{} has nvcc, but no {}", tree.kit->root, name)
                          : fmt::format("{}, {}", finding.cause, name);
      weigh(finding, tree.users);
      if (finding.fix.empty()) {
        add_reinstall(context, *tree.kit,
                      place == layout::k_cicc ? "nvidia-nvvm" : "nvidia-cuda-nvcc", finding);
        add_match_fix(context, *tree.kit, finding);
      }
    }
  }
}

} // namespace

const std::vector<Rule>& tree_rules() {
  static const std::vector<Rule> rules = {linked_alone, headers,    cicc,   crt,  cccl_missing,
                                          cccl_mixed,   cccl_older, nvlink, parts};
  return rules;
}

} // namespace cukit::doctor
