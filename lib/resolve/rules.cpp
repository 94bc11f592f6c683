#include "resolve/rules.hpp"

#include "base/strings.hpp"
#include "fit/machine.hpp"
#include "fit/parts.hpp"
#include "fit/targets.hpp"

#include <algorithm>

namespace cukit::resolve::rules {

const Rule k_compiler_core{
    "compiler-core", "nvcc, crt, nvvm and nvptxcompiler carry one full version",
    "NVIDIA's redistrib manifests of CUDA 13; cicc's PTX is refused by a ptxas of another version"};
const Rule k_ptxas_pair{
    "ptxas-pair", "ptxas and nvlink are nvcc's own, or both newer and of one package",
    "tried with nvcc 13.0 and ptxas 13.2 and 13.5; nvlink refuses objects newer than itself"};
const Rule k_runtime_minor{
    "runtime-minor", "headers and run-time compilers have nvcc's minor",
    "CCCL, cuda/std/__cccl/cuda_toolkit.h compares CUDART_VERSION with nvcc"};
const Rule k_jit_linker{"jit-linker", "nvJitLink has nvcc's minor",
                        "nvJitLink documentation, compatibility"};
const Rule k_binary_utilities{"binary-utilities",
                              "cuobjdump and nvdisasm are of nvcc's minor or newer",
                              "tried: 13.2's read 13.0's binaries"};
const Rule k_cccl{"cccl", "CCCL is the release's own or newer",
                  "CCCL README, compatibility with CUDA toolkits"};
const Rule k_device_runtime{"device-runtime", "libcudadevrt.a is not newer than nvlink",
                            "tried: nvlink says `newer than toolkit`"};
const Rule k_pytorch_major{"pytorch-major",
                           "the toolkit has the CUDA major that PyTorch was built with",
                           "PyTorch, torch/utils/cpp_extension.py"};
const Rule k_pytorch_minor{"pytorch-minor",
                           "a toolkit newer than PyTorch's own CUDA works with care",
                           "CUDA Compatibility guide, minor version compatibility"};
const Rule k_pytorch_build{"pytorch-build", "PyTorch was published in that version for that CUDA",
                           "PyTorch, RELEASE.md and its build matrix"};
const Rule k_pytorch_code{"pytorch-code", "PyTorch's own libraries have code for each GPU",
                          "PyTorch, RELEASE.md, CUDA architectures of each build"};
const Rule k_gpu_range{"gpu-range", "nvcc compiles for the GPU",
                       "CUDA release notes and nvcc documentation, GPU architectures"};
const Rule k_driver_floor{"driver-floor", "every driver that is asked for runs this CUDA major",
                          "CUDA Compatibility guide, minor version compatibility"};
const Rule k_ptx_of_driver{
    "ptx-of-driver", "a driver compiles no PTX newer than its own CUDA",
    "CUDA Compatibility guide, application considerations; seen as error 222 on an H200"};
const Rule k_host_compiler{
    "host-compiler", "the host compiler is one that the headers accept",
    "CUDA Installation Guide for Linux, host compiler support; crt/host_config.h"};
const Rule k_c_library{"c-library", "the C library's headers go with those of CUDA",
                       "glibc 2.41 and 2.42 release notes (sinpi, rsqrt); crt/math_functions.h"};
const Rule k_consumer_minimum{"consumer-minimum", "each consumer accepts this nvcc for each GPU",
                              "the consumer's own source"};
const Rule k_platform{"platform", "CUDA is made for the platform",
                      "NVIDIA's redistrib manifests: linux-aarch64 ends with 12.9"};
const Rule k_compiler_wheels{"compiler-wheels", "Python wheels hold nvcc from CUDA 13.0 on",
                             "contents of nvidia-cuda-nvcc-cu12: ptxas, crt and nvvm, no nvcc"};
const Rule k_version_wish{"version-wish", "the version is the one that was asked for",
                          "the manifest"};
const Rule k_availability{"availability", "the package exists",
                          "the cuda-toolkit metapackage, the redistrib manifest and the index"};
const Rule k_prerelease{"pre-release", "pre-releases and yanked files are never taken unasked",
                        "PEP 440 and PEP 592"};
const Rule k_machine{"machine", "what `native` asks for is there", "this machine"};
const Rule k_sources{"sources", "one of the named sources holds the release",
                     "NVIDIA's redistrib manifests and the cuda-toolkit metapackages"};

const std::vector<const Rule*>& all() {
  static const std::vector<const Rule*> list{
      &k_compiler_core,    &k_ptxas_pair,    &k_runtime_minor,   &k_jit_linker,
      &k_binary_utilities, &k_cccl,          &k_device_runtime,  &k_pytorch_major,
      &k_pytorch_minor,    &k_pytorch_build, &k_pytorch_code,    &k_gpu_range,
      &k_driver_floor,     &k_ptx_of_driver, &k_host_compiler,   &k_c_library,
      &k_consumer_minimum, &k_platform,      &k_compiler_wheels, &k_version_wish,
      &k_availability,     &k_prerelease,    &k_machine,         &k_sources};
  return list;
}

namespace {

template <typename... Args>
Verdict broken(const Rule& rule, fmt::format_string<Args...> text, Args&&... args) {
  return Violation{.rule = &rule, .reason = fmt::format(text, std::forward<Args>(args)...)};
}

Version make_version(std::string_view text) {
  auto version = Version::parse(text);
  CUKIT_ENSURE(version.has_value(), "a version written here is one");
  return *std::move(version);
}

} // namespace

Verdict compiler_core(const Version& nvcc, std::string_view component, const Version& version) {
  if (!fit::core_part(nvcc, version).is_refused()) {
    return {};
  }
  return broken(k_compiler_core, "{} {} does not belong to nvcc {}", component, version.text(),
                nvcc.text());
}

Verdict ptxas_pair(const Version& nvcc, const Version& ptxas, const Version& nvlink) {
  if (fit::linker_of(ptxas, nvlink).is_refused()) {
    return broken(k_ptxas_pair, "ptxas {} needs nvlink of the same package, not {}", ptxas.text(),
                  nvlink.text());
  }
  const auto fit = fit::ptxas_beside(nvcc, ptxas);
  if (!fit.is_refused()) {
    return {};
  }
  return fit.bound == fit::Bound::same_major
             ? broken(k_ptxas_pair, "ptxas {} is of another CUDA major than nvcc {}", ptxas.text(),
                      nvcc.text())
             : broken(k_ptxas_pair, "ptxas {} is older than nvcc {} and refuses its PTX",
                      ptxas.text(), nvcc.text());
}

Verdict runtime_minor(const Version& nvcc, std::string_view component, const Version& version) {
  if (!fit::minor_part(nvcc, version).is_refused()) {
    return {};
  }
  return broken(k_runtime_minor,
                "{} {} does not have the minor of nvcc {}; CCCL stops such a build", component,
                version.text(), nvcc.text());
}

Verdict jit_linker(const Version& nvcc, const Version& version) {
  if (!fit::minor_part(nvcc, version).is_refused()) {
    return {};
  }
  return broken(k_jit_linker, "nvJitLink {} does not have the minor of nvcc {}", version.text(),
                nvcc.text());
}

Verdict binary_utilities(const Version& nvcc, std::string_view component, const Version& version) {
  if (!fit::binary_utility(nvcc, version).is_refused()) {
    return {};
  }
  return broken(k_binary_utilities, "{} {} may not read what nvcc {} writes", component,
                version.text(), nvcc.text());
}

Verdict cccl(const Version& own, const Version& chosen) {
  if (!fit::cccl_line(own, chosen).is_refused()) {
    return {};
  }
  return broken(k_cccl, "CCCL {} is older than the {} that belongs to this toolkit", chosen.text(),
                own.major_minor());
}

Verdict device_runtime(const Version& cudart, const Version& nvlink) {
  if (!fit::device_runtime(nvlink, cudart).is_refused()) {
    return {};
  }
  return broken(k_device_runtime, "libcudadevrt.a of {} is newer than nvlink {}", cudart.text(),
                nvlink.text());
}

Verdict pytorch_major(const Version& torch_cuda, const Version& cuda) {
  if (!fit::goes_with_torch(torch_cuda, cuda).is_refused()) {
    return {};
  }
  return broken(k_pytorch_major, "PyTorch's CUDA is {}, so its extensions refuse CUDA {}",
                torch_cuda.major_minor(), cuda.major_minor());
}

Verdict pytorch_build(const fit::TorchReleases& torches, const fit::TorchName& torch) {
  if (fit::torch_build_exists(torches, torch) != fit::Answer::no) {
    return {};
  }
  std::vector<std::string> tags;
  for (const auto& [tag, build] : fit::find_torch(torches, *torch.version)->builds) {
    tags.push_back(tag);
  }
  std::vector<std::string> versions;
  for (const auto& release : torches) {
    if (release.builds.contains(torch.tag)) {
      versions.push_back(release.version.text());
    }
  }
  return broken(k_pytorch_build, "there is no PyTorch {}: {} is built for {}{}", torch.text(),
                torch.version->text(), join(tags, ", "),
                versions.empty()
                    ? std::string()
                    : fmt::format(", and {} is there for {}", torch.tag, join(versions, ", ")));
}

Verdict pytorch_code(const fit::TorchReleases& torches, const fit::TorchName& torch,
                     const GpuTarget& gpu, Platform platform,
                     const std::vector<knowledge::Architecture>& architectures) {
  if (fit::torch_has_code(torches, torch, gpu, platform, architectures) != fit::Answer::no) {
    return {};
  }
  const auto code = fit::torch_code_text(torches, torch, platform);
  return code.empty() ? broken(k_pytorch_code, "no PyTorch built for {} has code for {}", torch.tag,
                               gpu.plain().sm())
                      : broken(k_pytorch_code, "PyTorch {} has no code for {}: it was built for {}",
                               torch.text(), gpu.plain().sm(), code);
}

Verdict gpu_range(const knowledge::Architecture& architecture, const GpuTarget& target,
                  const Version& cuda) {
  const auto fit = fit::compiles_for(architecture, target, cuda);
  if (!fit.is_refused()) {
    return {};
  }
  if (fit.bound == fit::Bound::none) {
    return broken(k_gpu_range, "there is no `{}` form of {}", target.suffix, target.plain().sm());
  }
  if (fit.bound == fit::Bound::at_most) {
    return broken(k_gpu_range, "{} ({}) ends with CUDA {}", target.plain().sm(), architecture.name,
                  fit.version.major_minor());
  }
  return fit.version == architecture.first_cuda
             ? broken(k_gpu_range, "{} ({}) begins with CUDA {}", target.plain().sm(),
                      architecture.name, fit.version.major_minor())
             : broken(k_gpu_range, "{} begins with CUDA {}", target.sm(),
                      fit.version.major_minor());
}

Verdict driver_floor(const knowledge::Release& release, const Version& oldest) {
  const auto fit = fit::runs_on_driver(release, oldest);
  if (!fit.is_refused()) {
    return {};
  }
  if (oldest.major() == 0) {
    return broken(
        k_driver_floor,
        "CUDA {} needs a driver of branch {} or newer, and every older one is asked for too",
        release.minor.major_minor(), fit.version.text());
  }
  return broken(k_driver_floor, "CUDA {} needs a driver of branch {} or newer, not {}",
                release.minor.major_minor(), fit.version.text(), oldest.text());
}

Verdict ptx_of_driver(const knowledge::Release& release, const knowledge::Release& driver_cuda) {
  const auto fit = fit::ptx_on_driver(release, driver_cuda);
  if (!fit.is_refused()) {
    return {};
  }
  return broken(k_ptx_of_driver,
                "CUDA {} writes PTX {}, and a driver of CUDA {} compiles PTX up to {}",
                release.minor.major_minor(), release.ptx.text(), driver_cuda.minor.major_minor(),
                fit.version.text());
}

Verdict host_compiler(const knowledge::Release& release, const machine::Compiler& compiler) {
  const auto range = fit::compilers_of(release);
  const auto fit =
      fit::host_compiler(range, compiler.kind, static_cast<int>(compiler.version.major()));
  const auto cuda = release.minor.major_minor();
  if (!fit.is_refused()) {
    return {};
  }
  if (compiler.kind == "gcc") {
    return broken(k_host_compiler, "CUDA {} takes gcc up to {}, and {} is gcc {}", cuda,
                  fit.version.text(), compiler.path, compiler.version.text());
  }
  return broken(k_host_compiler, "CUDA {} takes clang {} to {}, and {} is clang {}", cuda,
                range.clang_min, range.clang_max, compiler.path, compiler.version.text());
}

Verdict c_library(const knowledge::Limits& limits, const Version& cuda, const Version& glibc) {
  const auto* clash = fit::c_library_clash(limits, cuda, glibc);
  if (clash == nullptr) {
    return {};
  }
  return broken(k_c_library, "glibc {} declares {} in a way that CUDA takes from {} on",
                glibc.text(), join(clash->functions, " and "), clash->cuda.text());
}

Verdict consumer_minimum(const knowledge::Consumer& consumer, const GpuTarget& target,
                         const Version& cuda) {
  const auto fit = fit::accepts_nvcc(consumer, target, cuda);
  if (!fit.is_refused()) {
    return {};
  }
  return broken(k_consumer_minimum, "{} asks for CUDA {} or newer for {} ({})", consumer.name,
                fit.version.text(), target.plain().sm(), consumer.why);
}

Verdict platform(const knowledge::Limits& limits, Platform platform, const Version& cuda) {
  const auto* end = fit::ended_before(platform, cuda, limits);
  if (end == nullptr) {
    return {};
  }
  return broken(k_platform, "{} ends with CUDA {}; from {} on its devices are served by {}",
                platform.text(), end->last.text(), end->without.text(), end->successor.text());
}

Verdict sources(const knowledge::Limits& limits, const std::vector<std::string>& named,
                std::string_view source, const Version& cuda) {
  if (source.empty() || std::find(named.begin(), named.end(), source) != named.end()) {
    return {};
  }
  const auto wheels = compiler_wheels(limits, cuda);
  return broken(k_sources, "CUDA {} would come from {}, which is not among them{}{}", cuda.text(),
                source, wheels ? ": " : "", wheels ? wheels->reason : "");
}

Verdict compiler_wheels(const knowledge::Limits& limits, const Version& cuda) {
  const auto fit = fit::compiler_in_wheels(cuda, limits);
  if (!fit.is_refused()) {
    return {};
  }
  return broken(k_compiler_wheels, "the Python wheels of CUDA {} hold no nvcc; they do from {} on",
                cuda.major(), fit.version.text());
}

Version cccl_of_package(const Version& package, const std::vector<knowledge::Release>& releases) {
  const auto& parts = package.release();
  if (parts.size() >= 5 && parts[1] == 3) {
    return make_version(fmt::format("{}.{}.{}", parts[1], parts[2], parts[3]));
  }
  const auto* release = knowledge::find_release(releases, package);
  return release != nullptr ? release->cccl : package;
}

Version oldest_driver(const VersionRange& range) {
  if (range.contains(make_version("0.1"))) {
    return {};
  }
  std::optional<Version> oldest;
  const auto text = range.text();
  for (const auto clause : split(text, ',')) {
    auto number = clause.substr(std::min(clause.find_first_of("0123456789"), clause.size()));
    if (number.ends_with(".*")) {
      number.remove_suffix(2);
    }
    // the bound itself, or what comes right after it where the bound is not included
    for (const auto& candidate : {std::string(number), fmt::format("{}.1", number)}) {
      const auto version = Version::parse(candidate);
      if (version && range.contains(*version)) {
        oldest = oldest ? std::min(*oldest, *version) : *version;
        break;
      }
    }
  }
  return oldest.value_or(Version());
}

} // namespace cukit::resolve::rules
