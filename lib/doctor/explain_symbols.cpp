// Symbols that a log misses or finds twice: of torch, of CUDA's libraries and driver, of device
// code. A symbol's name tells whose it is, as a header's does.
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
using buildlog::State;

bool is_of_linker(const Failure& failure) {
  return failure.tool != "ld.so" && failure.tool != "Python";
}

/// A name of libtorch that an extension wants and the torch here does not have.
Finding* symbol_of_torch(const Context& context, const Failure& failure, Findings& findings) {
  constexpr std::array<std::string_view, 8> k_begins = {"_ZN3c10",   "_ZNK3c10",   "_ZN2at",
                                                        "_ZNK2at",   "_ZN5torch",  "_ZNK5torch",
                                                        "_ZTVN3c10", "_ZTIN5torch"};
  const bool is_its = std::any_of(k_begins.begin(), k_begins.end(), [&](std::string_view begins) {
    return failure.name.starts_with(begins);
  });
  if (!is_its || failure.tool != "ld.so") {
    return nullptr;
  }
  const auto python = std::find_if(context.snapshot.pythons.begin(), context.snapshot.pythons.end(),
                                   [](const auto& one) { return !one.torch.empty(); });
  const bool is_here = python != context.snapshot.pythons.end();
  const auto file = value_or(failure.file, "the extension");
  auto& finding =
      say(findings, RuleId::extension_of_another_torch,
          fmt::format("{} was built for another torch than {}", file,
                      is_here ? "the " + python->torch + " that is here" : "the one that is here"));
  finding.evidence.push_back({file, "wants " + failure.name});
  if (!is_here && finding.fix.empty()) {
    finding.fix = {by_hand("install the torch that it was made for, or build its package anew "
                           "beside the torch that it is loaded with (pip install --force-reinstall "
                           "--no-deps --no-build-isolation --no-binary PACKAGE PACKAGE)",
                           "extension and torch are of one release")};
  }
  if (is_here) {
    finding.evidence.push_back({python->prefix, "torch " + python->torch});
    std::string name;
    for (const auto& extension : python->extensions) {
      name = extension.path == file ? extension.distribution : name;
    }
    finding.fix.push_back(by_hand(
        fmt::format("install the build of {} that was made for torch {}, or the torch that it was "
                    "made for",
                    value_or(name, "its package"), python->torch),
        "extension and torch are of one release"));
    if (!name.empty()) {
      finding.fix.push_back(by_command(pip_install(context, python->prefix, {name},
                                                   {"--force-reinstall", "--no-deps",
                                                    "--no-build-isolation", "--no-binary", name})
                                           .command,
                                       "or built here, for the torch that is here"));
    }
  }
  return &finding;
}

/// cuMemMap: of the driver's own library. cuFile's names begin alike.
bool is_of_driver(std::string_view symbol) {
  return symbol.size() > 3 && symbol.starts_with("cu") &&
         std::isupper(static_cast<unsigned char>(symbol[2])) != 0 && !symbol.starts_with("cuFile");
}

/// The library that exports a symbol of CUDA: libcublas of cublasCreate_v2; empty: not known.
std::string library_of(const Failure& failure) {
  if (failure.demand.starts_with("lib")) { // the version node is the library's name
    return failure.demand;
  }
  auto name = std::string_view(failure.name);
  name = name.substr(std::min(name.find_first_not_of('_'), name.size()));
  if (is_of_driver(name)) {
    return "libcuda.so.1";
  }
  const bool is_function = name.find_first_of(":( .") == std::string_view::npos;
  const auto component = is_function ? component_of(name) : std::string_view();
  const bool is_headers_alone =
      component == "cccl" || component == "crt" || component == "profiler" || component.empty();
  if (is_headers_alone) {
    return {};
  }
  constexpr std::array<std::pair<std::string_view, const char*>, 4> k_called = {
      {{"nvjitlink", "libnvJitLink"},
       {"nvml", "libnvidia-ml"},
       {"nvtx", "libnvToolsExt"},
       {"nvshmem", "libnvshmem_host"}}};
  const auto called = std::find_if(k_called.begin(), k_called.end(),
                                   [&](const auto& one) { return one.first == component; });
  return called != k_called.end() ? called->second : fmt::format("lib{}", component);
}

/// The wheel of NVIDIA's that brought a component here: nvidia-cuda-cupti-cu12; empty: none.
std::string wheel_of(const survey::PythonEnvironment& python, std::string_view component) {
  for (const auto& one : python.distributions) {
    const auto at = one.name.find(component);
    const auto end = at + component.size();
    const bool is_whole = at != std::string::npos && one.name[at - 1] == '-' &&
                          (end == one.name.size() || one.name[end] == '-');
    if (one.name.starts_with("nvidia-") && is_whole) {
      return one.name;
    }
  }
  return {};
}

/// The driver's library lacks what a program was built to call.
Finding* driver_lacks(const Failure& failure, Findings& findings) {
  auto& finding =
      say(findings, RuleId::driver_too_old,
          fmt::format("the libcuda.so.1 that is loaded has no {}, which {} was built to call",
                      failure.name, value_or(failure.file, "the program")));
  if (finding.fix.empty()) {
    finding.fix = {
        by_hand("install the driver branch of the CUDA that the program was built with; on "
                "data-center GPUs cuda-compat of it serves, too",
                "its libcuda.so.1 has the function"),
        by_hand("where a stub or an older compat folder comes first (LD_LIBRARY_PATH, "
                "/etc/ld.so.conf.d), take it out",
                "the driver's own library is then loaded")};
  }
  return &finding;
}

/// Another release's library of the same name was loaded first.
Finding* library_lacks(const Context& context, const Failure& failure, const std::string& library,
                       Findings& findings) {
  const auto stem = library.substr(0, library.find(".so"));
  auto& finding = findings.add(RuleId::library_lacks_symbols, stem);
  if (!finding.cause.empty()) {
    return &finding;
  }
  finding.cause =
      fmt::format("the {} that is loaded has no {}: it is of an older release than the one that {} "
                  "was built with, and was found first",
                  library, failure.name, value_or(failure.file, "the program"));
  for (const auto& kit : context.snapshot.toolkits) {
    for (const auto& [name, path] : kit.libraries) {
      if (name.starts_with(stem + ".so.")) {
        finding.evidence.push_back({path, fmt::format("of CUDA {}", value_or(kit.cudart, "?"))});
      }
    }
  }
  const auto path = variable(context.snapshot, "LD_LIBRARY_PATH");
  if (!path.empty()) {
    finding.evidence.push_back({"LD_LIBRARY_PATH", path});
    finding.fix.push_back(
        by_command(unset_variables({"LD_LIBRARY_PATH"}), "each wheel then finds what it brought"));
  }
  std::string wheel;
  for (const auto& python : context.snapshot.pythons) {
    const bool is_its = failure.file.empty() || failure.file.starts_with(python.prefix + "/");
    wheel = is_its && wheel.empty() ? wheel_of(python, component_of(stem)) : wheel;
    if (is_its && !wheel.empty()) {
      finding.fix.push_back(by_command(
          pip_install(context, python.prefix, {wheel}, {"--force-reinstall", "--no-deps"}),
          "the library that this environment asks for, whole again"));
      break;
    }
  }
  if (path.empty()) {
    finding.fix.push_back(by_hand(
        fmt::format("see which {} is loaded (LD_DEBUG=libs): take the older one's folder out of "
                    "LD_LIBRARY_PATH, RPATH and ld.so.conf.d, or bring it to the release that is "
                    "wanted",
                    stem),
        "the first of a name serves the whole process"));
  }
  return &finding;
}

/// A function of a CUDA library that the link does not name.
Finding* not_linked(const Context& context, const Failure& failure, const std::string& library,
                    Findings& findings) {
  const auto stem = library.substr(0, library.find(".so"));
  const auto option = "-l" + stem.substr(3);
  const auto* command = command_of(context, failure);
  const bool is_named =
      command != nullptr &&
      std::any_of(command->libraries.begin(), command->libraries.end(), [&](const auto& name) {
        return name == option || name == option.substr(2) ||
               name.find(stem + ".") != std::string::npos;
      });
  auto& finding = findings.add(RuleId::library_missing, stem);
  if (finding.cause.empty()) {
    finding.cause =
        is_named
            ? fmt::format("{} is of {}, which the link names: before the objects that need it, "
                          "or of another release",
                          failure.name, stem)
            : fmt::format("{} is of {}, which the link does not name", failure.name, stem);
    finding.fix = {by_hand(is_named ? fmt::format("put {} behind the objects, and see which folder "
                                                  "-L takes it from",
                                                  option)
                                    : fmt::format("link it: {}; with CMake the target CUDA::{} or "
                                                  "what find_package(CUDAToolkit) defines",
                                                  option, stem.substr(3)),
                           "the linker takes what it needs from left to right")};
  }
  return &finding;
}

/// Device code that calls what no object of the device link has.
Finding* device_link(const Failure& failure, Findings& findings) {
  auto& finding = findings.add(RuleId::device_link_incomplete, failure.name);
  if (!finding.cause.empty()) {
    return &finding;
  }
  const auto name = std::string_view(failure.name);
  const bool is_runtime = name.starts_with("cuda") || name.starts_with("__cudaCDP");
  const bool is_shmem = name.find("nvshmem") != std::string_view::npos;
  const bool is_host_half = name.find("__cudaRegisterLinkedBinary") != std::string_view::npos;
  finding.cause =
      is_host_half
          ? "objects were made with -rdc=true, and no device link joined them"
          : fmt::format("{} is called in device code{}, and nothing that was linked defines it",
                        failure.name, failure.file.empty() ? "" : " of " + failure.file);
  finding.fix = {
      by_hand(is_host_half ? "let nvcc link, or make the device link first: nvcc -dlink *.o -o "
                             "dlink.o; CMake: CUDA_SEPARABLE_COMPILATION and "
                             "CUDA_RESOLVE_DEVICE_SYMBOLS; setuptools: dlink=True"
              : is_runtime ? "link the device runtime: -lcudadevrt, of nvcc's own release"
              : is_shmem   ? "link nvshmem's device library: -lnvshmem_device"
                         : "compile every file that shares device functions with -rdc=true (-dc), "
                           "and name the object or library that defines it in the device link",
              "nvlink sees what is given to it alone")};
  return &finding;
}

Finding* defined_twice(const Failure& failure, Findings& findings) {
  auto& finding =
      say(findings, RuleId::symbol_defined_twice,
          fmt::format("{} is defined in two of the things that are linked", failure.name));
  if (finding.fix.empty()) {
    finding.fix = {by_hand("link one of them: the same file is named twice, a function in a header "
                           "lacks inline, or a library comes both static and shared",
                           "each name is then defined once")};
  }
  return &finding;
}

/// `at::Tensor::foo()` in a linker's words.
bool is_of_torch_by_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> k_spaces = {"c10::", "at::", "torch::", "caffe2::"};
  return std::any_of(k_spaces.begin(), k_spaces.end(), [&](std::string_view space) {
    const auto at = name.find(space);
    return at == 0 || (at != std::string_view::npos && at < name.find('(') && name[at - 1] == ' ');
  });
}

Finding* torch_not_linked(const Failure& failure, Findings& findings) {
  const bool is_new_strings = failure.name.find("__cxx11") != std::string::npos;
  auto& finding = findings.add(RuleId::library_missing, "libtorch");
  if (finding.cause.empty()) {
    finding.cause = fmt::format("{} is of torch, and the torch libraries that are linked, if any, "
                                "do not have it",
                                failure.name);
    finding.fix = {
        by_hand("link -ltorch -ltorch_cpu -lc10 (and -ltorch_cuda -lc10_cuda) of the torch whose "
                "headers are included: torch.utils.cpp_extension and find_package(Torch) do",
                "headers and libraries are of one torch"),
        by_hand(fmt::format("where they are linked: compile with -D_GLIBCXX_USE_CXX11_ABI={} as "
                            "torch.compiled_with_cxx11_abi() says",
                            is_new_strings ? 0 : 1),
                "std::string is another type with the other setting")};
  }
  return &finding;
}

} // namespace

Finding* missing_symbol(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.state == State::duplicate) {
    return defined_twice(failure, findings);
  }
  if (failure.state != State::missing) {
    return nullptr;
  }
  if (failure.tool == "nvlink" || failure.tool == "ptxas" ||
      failure.name.find("__cudaRegisterLinkedBinary") != std::string::npos) {
    return device_link(failure, findings);
  }
  if (auto* finding = symbol_of_torch(context, failure, findings)) {
    return finding;
  }
  const auto library = library_of(failure);
  if (is_of_linker(failure)) {
    return is_of_torch_by_name(failure.name) ? torch_not_linked(failure, findings)
           : library.empty()                 ? nullptr
                                             : not_linked(context, failure, library, findings);
  }
  if (library.empty()) {
    return nullptr;
  }
  return library.starts_with("libcuda.so") ? driver_lacks(failure, findings)
                                           : library_lacks(context, failure, library, findings);
}

} // namespace cukit::doctor
