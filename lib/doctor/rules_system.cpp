// The host around a toolkit: C++ compiler, C library, driver.
#include "base/strings.hpp"
#include "doctor/packages.hpp"
#include "fit/machine.hpp"
#include "machine/machine.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

/// The compiler nvcc would take: -ccbin of its flags, NVCC_CCBIN, else g++ of PATH. CC reaches it
/// through torch and FlashInfer, which pass it on.
const survey::HostCompiler* taken_compiler(const survey::Snapshot& snapshot,
                                           std::string& named_by) {
  const auto by_path = [&](std::string_view path) -> const survey::HostCompiler* {
    const auto slash = path.rfind('/');
    std::string cxx(path.substr(slash + 1)); // npos + 1 is 0
    if (cxx.starts_with("gcc")) {
      cxx.replace(0, 3, "g++");
    }
    const auto whole =
        slash == std::string_view::npos ? cxx : std::string(path.substr(0, slash + 1)) + cxx;
    for (const auto& compiler : snapshot.compilers) {
      const auto own = std::string_view(compiler.path).substr(compiler.path.rfind('/') + 1);
      if (compiler.path == whole || compiler.real == whole ||
          (slash == std::string_view::npos && own == cxx)) {
        return &compiler;
      }
    }
    return nullptr;
  };
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    const auto value = variable(snapshot, name);
    std::string_view previous;
    for (auto word : split_words(value)) {
      for (const std::string_view flag : {"-ccbin", "--compiler-bindir"}) {
        if (previous == flag || word.starts_with(std::string(flag) + "=")) {
          named_by = name;
          return by_path(previous == flag ? word : word.substr(flag.size() + 1));
        }
      }
      previous = word;
    }
  }
  for (const char* name : {"NVCC_CCBIN", "CUDAHOSTCXX", "CC"}) {
    if (const auto value = variable(snapshot, name); !value.empty()) {
      named_by = name;
      return by_path(value);
    }
  }
  named_by = "PATH";
  for (const auto& compiler : snapshot.compilers) {
    if (compiler.path.ends_with("/g++")) {
      return &compiler;
    }
  }
  return snapshot.compilers.empty() ? nullptr : &snapshot.compilers.front();
}

/// What the headers themselves say; where they do not of gcc, what is known of their release.
fit::CompilerRange accepted_by(const Context& context, const UsedTree& tree) {
  fit::CompilerRange range{.gcc_max = tree.kit->gcc_max, .clang_max = tree.kit->clang_below - 1};
  const auto* release = release_of(context, tree.nvcc->version);
  if (range.gcc_max <= 0 && release != nullptr) {
    range.gcc_max = fit::compilers_of(*release).gcc_max;
  }
  return range;
}

void cut_short(const Context& context, Findings& findings) {
  if (context.snapshot.notes.empty()) {
    return;
  }
  auto& finding = findings.add(RuleId::scan_cut_short);
  finding.cause = "what was not looked at may be what is missing here";
  for (const auto& note : context.snapshot.notes) {
    finding.evidence.push_back({context.snapshot.root, note});
  }
  finding.fix = {by_hand("shorten PATH to the folders that are used, and name what matters with "
                         "--venv and --toolkit",
                         "a look costs no more than there is to look at")};
}

void compiler_missing(const Context& context, Findings& findings) {
  if (!context.snapshot.compilers.empty() || context.snapshot.environment.empty()) {
    return;
  }
  for (const auto& tree : trees_with_nvcc(context)) {
    if (tree.users.empty()) {
      continue;
    }
    auto& finding = findings.add(RuleId::host_compiler_missing);
    finding.cause =
        fmt::format("{} is there, and neither g++ nor clang++ is in PATH", tree.nvcc->path);
    finding.evidence = {{tree.nvcc->path, "nvcc " + tree.nvcc->version},
                        {"PATH", variable(context.snapshot, "PATH")}};
    finding.fix = {install_gxx(context)};
    finding.consumers.insert(finding.consumers.end(), tree.users.begin(), tree.users.end());
  }
}

void compiler_too_new(const Context& context, Findings& findings) {
  std::string named_by;
  const auto* compiler = taken_compiler(context.snapshot, named_by);
  if (compiler == nullptr || compiler->version.empty()) {
    return;
  }
  const int major = major_of(compiler->version);
  for (const auto& tree : trees_with_nvcc(context)) {
    const bool is_gcc = compiler->kind == "gcc";
    const auto range = accepted_by(context, tree);
    if (!fit::host_compiler(range, is_gcc ? "gcc" : "clang", major).is_refused()) {
      continue;
    }
    const int limit = is_gcc ? range.gcc_max : range.clang_max;
    auto& finding = findings.add(RuleId::host_compiler_too_new, tree.kit->real);
    finding.cause =
        fmt::format("{} {} ({}) is newer than CUDA {} accepts: up to {}", compiler->kind,
                    compiler->version, named_by, minor_of(tree.nvcc->version), limit);
    finding.evidence = {{compiler->path, compiler->kind + " " + compiler->version},
                        {tree.kit->include + "/crt/host_config.h",
                         fmt::format("{} up to {}", compiler->kind, limit)}};
    weigh(finding, tree.users);
    for (const auto& other : context.snapshot.compilers) {
      if (other.kind == compiler->kind && !other.version.empty() &&
          major_of(other.version) <= limit) {
        finding.fix.push_back(by_command(use_compiler(other.path), "a compiler that is here"));
        break;
      }
    }
    if (finding.fix.empty()) {
      finding.fix.push_back(is_gcc ? install_gxx(context, limit)
                                   : by_hand(fmt::format("install clang++ {} or older", limit),
                                             "the newest that this CUDA accepts"));
    }
    finding.fix.push_back(cukit_fix(context, tree.users));
  }
}

/// Whether a look at headers found that the C library declares a function, and that CUDA's own
/// agree; a function that nobody looks for in headers is judged by versions alone.
struct DeclaredFunction {
  std::string_view name;
  bool survey::Snapshot::*in_libm;
  bool survey::Toolkit::*is_ready;
};
constexpr DeclaredFunction k_looked_for[] = {
    {"cospi", &survey::Snapshot::libm_has_cospi, &survey::Toolkit::cospi_is_ready},
    {"rsqrt", &survey::Snapshot::libm_has_rsqrt, &survey::Toolkit::rsqrt_is_ready}};

bool clashes(const Context& context, const survey::Toolkit& kit,
             const knowledge::CLibraryClash& clash) {
  const auto glibc = Version::parse(context.snapshot.glibc);
  const bool reaches = glibc && *glibc >= clash.glibc;
  for (const auto& function : k_looked_for) {
    const auto& names = clash.functions;
    if (std::find(names.begin(), names.end(), function.name) != names.end()) {
      return (context.snapshot.*function.in_libm || reaches) && !(kit.*function.is_ready);
    }
  }
  const auto cuda = Version::parse(kit.cudart);
  return reaches && cuda && fit::c_library_clash(context.limits, *cuda, *glibc) == &clash;
}

void glibc(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    // the oldest clash is told, the newest tells which CUDA ends all
    const knowledge::CLibraryClash* oldest = nullptr;
    const knowledge::CLibraryClash* newest = nullptr;
    for (const auto& clash : context.limits.c_library) {
      if (clashes(context, *tree.kit, clash)) {
        newest = newest == nullptr ? &clash : newest;
        oldest = &clash;
      }
    }
    if (oldest == nullptr) {
      continue;
    }
    auto functions = oldest->functions;
    std::sort(functions.begin(), functions.end());
    auto& finding = findings.add(RuleId::glibc_too_new, tree.kit->real);
    finding.cause = fmt::format(
        "glibc {} declares {}, and so does crt/math_functions.h of CUDA {}, without noexcept",
        value_or(context.snapshot.glibc, "here"), join(functions, " and "),
        minor_of(tree.nvcc->version));
    finding.evidence = {
        {"glibc", value_or(context.snapshot.glibc, "its bits/mathcalls.h declares them")},
        {tree.kit->include + "/crt/math_functions.h",
         "declares them without an exception specification"}};
    weigh(finding, tree.users);
    finding.fix = {cukit_fix(context, tree.users),
                   by_hand(fmt::format("install CUDA {} or newer", newest->cuda.text()),
                           "its headers agree with this C library")};
  }
}

void driver_floor(const Context& context, Findings& findings) {
  if (!context.driver) {
    return;
  }
  // what a compiler makes harms its users; what is installed, everybody
  const auto check = [&](const std::string& cuda, const std::string& who, const std::string& path,
                         const std::vector<std::string>& users = {}) {
    const auto* release = release_of(context, cuda);
    const auto fit =
        release == nullptr ? fit::Fit() : fit::runs_on_driver(*release, *context.driver);
    if (!fit.is_refused()) {
      return;
    }
    auto& finding = findings.add(RuleId::driver_too_old);
    finding.concerns_builds = !users.empty() && (finding.cause.empty() || finding.concerns_builds);
    if (finding.concerns_builds) {
      finding.consumers.insert(finding.consumers.end(), users.begin(), users.end());
    }
    if (finding.cause.empty()) {
      finding.cause = fmt::format("the driver is {}, {} of CUDA {} needs {} or newer",
                                  machine::driver_text(*context.driver), who, release->minor.text(),
                                  fit.version.text());
    }
    finding.evidence.push_back({"driver", machine::driver_text(*context.driver)});
    finding.evidence.push_back({path, who + ", CUDA " + cuda});
    finding.fix = {
        by_hand(fmt::format("install a driver of branch {} or newer", fit.version.text()),
                "runs this CUDA major"),
        by_hand("install wheels of the driver's own CUDA major (torch from PyTorch's cu12 index, "
                "cuda-python 12)",
                "what this driver runs")};
  };
  for (const auto& python : context.snapshot.pythons) {
    if (!python.torch_cuda.empty()) {
      check(python.torch_cuda, "torch " + python.torch, python.prefix);
    }
    for (const char* name : {"cuda-bindings", "cuda-python"}) {
      if (const auto* dist = survey::find_distribution(python, name)) {
        check(fmt::format("{}.0", major_of(dist->version)), std::string(name) + " " + dist->version,
              dist->path);
      }
    }
  }
  for (const auto& tree : trees_with_nvcc(context)) {
    if (!tree.users.empty()) {
      check(tree.nvcc->version, "nvcc", tree.nvcc->path, tree.users);
    }
  }
}

void driver_ptx(const Context& context, Findings& findings) {
  const auto* own =
      context.driver ? fit::cuda_of_driver(context.releases, *context.driver) : nullptr;
  if (own == nullptr) {
    return;
  }
  for (const auto& tree : trees_with_nvcc(context)) {
    const auto* release = release_of(context, tree.nvcc->version);
    if (release == nullptr || tree.users.empty() ||
        !fit::ptx_on_driver(*release, *own).is_refused() ||
        fit::runs_on_driver(*release, *context.driver).is_refused()) {
      continue;
    }
    auto& finding = findings.add(RuleId::driver_older_than_ptx, tree.kit->real);
    finding.cause =
        fmt::format("nvcc {} writes PTX {}, the driver ({}) is of CUDA {} and compiles up to {}",
                    tree.nvcc->version, release->ptx.text(), machine::driver_text(*context.driver),
                    own->minor.text(), own->ptx.text());
    finding.evidence = {
        {"driver", machine::driver_text(*context.driver) + ", CUDA " + own->minor.text()},
        {tree.nvcc->path, "nvcc " + tree.nvcc->version}};
    finding.consumers = tree.users;
    const auto target = context.gpus.empty() ? std::string("sm_XX") : context.gpus.front().sm();
    finding.fix = {
        by_hand(fmt::format("compile SASS for the GPU: -gencode arch=compute_{0},code=sm_{0}",
                            target.substr(3)),
                "minor version compatibility covers SASS"),
        by_hand(fmt::format("use a toolkit of CUDA {} or older, or a driver of branch {} or newer",
                            own->minor.text(), release->driver_branch),
                "then PTX is compiled too")};
  }
}

void driver_library(const Context& context, Findings& findings) {
  const auto& snapshot = context.snapshot;
  // without a reason nobody asked: a root folder, or a snapshot of an older cukit
  if (snapshot.gpus.empty() || snapshot.gpus_why.empty() || snapshot.gpus_found_by == "libcuda") {
    return;
  }
  auto& finding = findings.add(RuleId::driver_library_missing);
  finding.cause = fmt::format("{} names {} GPU{}, and libcuda.so.1 none", snapshot.gpus_found_by,
                              snapshot.gpus.size(), snapshot.gpus.size() == 1 ? "" : "s");
  finding.evidence = {{snapshot.gpus_found_by, snapshot.gpus.front().name},
                      {"libcuda.so.1", snapshot.gpus_why}};
  finding.fix = {by_hand("start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                         "a container gets libcuda then"),
                 install_libcuda(context)};
}

} // namespace

const std::vector<Rule>& system_rules() {
  static const std::vector<Rule> rules = {cut_short,    compiler_missing, compiler_too_new, glibc,
                                          driver_floor, driver_ptx,       driver_library};
  return rules;
}

} // namespace cukit::doctor
