#include "doctor/packages.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace cukit::doctor {

namespace {

struct System {
  PackageManager manager;
  std::vector<std::string_view> ids;   ///< ID or ID_LIKE of os-release
  std::vector<std::string_view> names; ///< begin PRETTY_NAME
  std::vector<std::string> install;
};

const std::vector<System>& systems() {
  static const std::vector<System> all = {
      {PackageManager::apt,
       {"debian", "ubuntu"},
       {"Debian", "Ubuntu", "Linux Mint", "Pop!_OS"},
       {"apt-get", "install"}},
      {PackageManager::dnf,
       {"fedora", "rhel", "centos", "amzn"},
       {"Fedora", "Red Hat", "Rocky", "AlmaLinux", "CentOS", "Oracle Linux", "Amazon Linux"},
       {"dnf", "install"}},
      {PackageManager::zypper,
       {"suse", "sles", "opensuse"},
       {"openSUSE", "SUSE"},
       {"zypper", "install"}},
      {PackageManager::pacman, {"arch"}, {"Arch", "Manjaro"}, {"pacman", "-S"}},
      {PackageManager::apk, {"alpine"}, {"Alpine"}, {"apk", "add"}}};
  return all;
}

/// What is installed, by the manager; none: a person has to look for it.
using Names = std::map<PackageManager, std::vector<std::string>>;

Action install_by(const Context& context, const Names& names, std::vector<Effect> effects = {}) {
  const auto manager = package_manager_of(context.snapshot);
  const auto packages = names.find(manager);
  const auto& all = systems();
  const auto system =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.manager == manager; });
  if (packages == names.end() || system == all.end()) {
    return {};
  }
  auto words = system->install;
  words.insert(words.end(), packages->second.begin(), packages->second.end());
  return {ShellCommand(words), std::move(effects)};
}

/// 12-8: as NVIDIA's packages write a minor.
std::string dashed(std::string minor) {
  std::replace(minor.begin(), minor.end(), '.', '-');
  return minor;
}

/// A component's package without its minor: cuda-cudart-dev of Debian, cuda-cudart-devel of the
/// others.
std::string package_of(std::string_view component, bool is_debian) {
  const std::string headers = is_debian ? "-dev" : "-devel";
  static constexpr std::array<std::string_view, 12> programs = {
      "nvcc",     "cuobjdump", "nvdisasm",  "nvprune", "cccl",     "crt",
      "cuxxfilt", "gdb",       "sanitizer", "nvtx",    "profiler", "cupti"};
  static constexpr std::array<std::string_view, 9> libraries = {
      "cublas", "cufft", "curand", "cusolver", "cusparse", "npp", "nvjitlink", "nvjpeg", "cufile"};
  if (component == "profiler") {
    return "cuda-profiler-api";
  }
  if (component == "sanitizer") {
    return "cuda-sanitizer";
  }
  if (component == "nvml") {
    return "cuda-nvml" + headers;
  }
  if (std::find(programs.begin(), programs.end(), component) != programs.end()) {
    return fmt::format("cuda-{}", component);
  }
  if (std::find(libraries.begin(), libraries.end(), component) != libraries.end()) {
    return fmt::format("lib{}{}", component, headers);
  }
  return fmt::format("cuda-{}{}", component, headers);
}

} // namespace

PackageManager package_manager_of(const survey::Snapshot& snapshot) {
  for (const auto& system : systems()) {
    const auto is_its = [&](std::string_view id) {
      return std::any_of(system.ids.begin(), system.ids.end(), [&](std::string_view one) {
        return id == one || id.starts_with(std::string(one) + "-"); // opensuse-leap
      });
    };
    if (std::any_of(snapshot.os_ids.begin(), snapshot.os_ids.end(), is_its)) {
      return system.manager;
    }
  }
  for (const auto& system : systems()) {
    if (snapshot.os_ids.empty() &&
        std::any_of(system.names.begin(), system.names.end(),
                    [&](std::string_view name) { return snapshot.os.starts_with(name); })) {
      return system.manager;
    }
  }
  return PackageManager::unknown;
}

Fix install_gxx(const Context& context, int major) {
  const auto number = std::to_string(major);
  const bool is_any = major == 0;
  Names names = {{PackageManager::apt,
                  {"--no-install-recommends", is_any ? "g++" : "g++-" + number, "libc6-dev"}},
                 {PackageManager::dnf, {is_any ? "gcc-c++" : "gcc-toolset-" + number + "-gcc-c++"}},
                 {PackageManager::zypper, {is_any ? "gcc-c++" : "gcc" + number + "-c++"}}};
  if (is_any) {
    names.insert({{PackageManager::pacman, {"gcc"}}, {PackageManager::apk, {"g++", "musl-dev"}}});
  }
  const auto manager = package_manager_of(context.snapshot);
  const auto path = is_any ? std::string("/usr/bin/g++")
                    : manager == PackageManager::dnf
                        ? fmt::format("/opt/rh/gcc-toolset-{}/root/usr/bin/g++", number)
                        : "/usr/bin/g++-" + number;
  auto action = install_by(context, names, {AddsCompiler{path, is_any ? "" : number}});
  if (action.command.empty()) {
    return by_hand(is_any
                       ? std::string("install a C++ compiler")
                       : fmt::format("install g++ {} and name it: -ccbin, or NVCC_CCBIN", number),
                   "nvcc compiles the host's half with it");
  }
  return is_any ? by_command(action, "a host compiler for nvcc")
                : by_command(action.then(use_compiler(path)), "the newest that this CUDA accepts");
}

Fix install_python_headers(const Context& context) {
  auto action =
      install_by(context, {{PackageManager::apt, {"--no-install-recommends", "python3-dev"}},
                           {PackageManager::dnf, {"python3-devel"}},
                           {PackageManager::zypper, {"python3-devel"}},
                           {PackageManager::apk, {"python3-dev"}}});
  return action.command.empty()
             ? by_hand("install the development package of this Python (python3-dev, "
                       "python3-devel); a Python of uv or conda has the headers",
                       "it brings Python.h")
             : by_command(action,
                          "Python.h of the system's Python; a Python of uv or conda has it");
}

Fix install_program(const Context& context, const std::string& name) {
  static constexpr std::array<std::string_view, 9> same = {"cmake", "make", "git", "curl", "wget",
                                                           "patch", "m4",   "tar", "unzip"};
  Names names;
  if (name == "ninja") {
    names = {{PackageManager::apt, {"--no-install-recommends", "ninja-build"}},
             {PackageManager::dnf, {"ninja-build"}},
             {PackageManager::zypper, {"ninja"}},
             {PackageManager::pacman, {"ninja"}},
             {PackageManager::apk, {"ninja"}}};
  } else if (name == "pkg-config") {
    names = {{PackageManager::apt, {"pkg-config"}},
             {PackageManager::dnf, {"pkgconf-pkg-config"}},
             {PackageManager::zypper, {"pkg-config"}},
             {PackageManager::pacman, {"pkgconf"}},
             {PackageManager::apk, {"pkgconf"}}};
  } else if (std::find(same.begin(), same.end(), name) != same.end()) {
    for (const auto& system : systems()) {
      names[system.manager] = {name};
    }
    names[PackageManager::apt] = {"--no-install-recommends", name};
  }
  auto action = install_by(context, names);
  return action.command.empty()
             ? by_hand(fmt::format("install {}, or put the folder that has it into PATH", name),
                       "it is then found")
             : by_command(action, "the program, where everybody finds it");
}

Fix install_component(const Context& context, const survey::Toolkit& kit,
                      const std::string& component, const std::string& minor) {
  const auto debian = package_of(component, true) + "-" + dashed(minor);
  const auto other = package_of(component, false) + "-" + dashed(minor);
  auto action = minor.empty() ? Action()
                              : install_by(context,
                                           {{PackageManager::apt, {debian}},
                                            {PackageManager::dnf, {other}},
                                            {PackageManager::zypper, {other}}},
                                           {AddsComponents{kit.root, {component}}});
  return action.command.empty()
             ? by_hand(fmt::format("install {} of CUDA {} into {}", component,
                                   value_or(minor, "the same release"), kit.root),
                       "the part that is missing")
             : by_command(action, "NVIDIA's own package");
}

Fix install_toolkit(const Context& context, const std::string& minor) {
  const auto package = "cuda-toolkit-" + dashed(minor);
  auto action = minor.empty() ? Action()
                              : install_by(context, {{PackageManager::apt, {package}},
                                                     {PackageManager::dnf, {package}},
                                                     {PackageManager::zypper, {package}}});
  return action.command.empty()
             ? by_hand(fmt::format("install all of CUDA {}", value_or(minor, "of one release")),
                       "its compilers, headers and libraries belong together")
             : by_command(
                   action,
                   "the full toolkit of that release: NVIDIA's own packages, with all headers");
}

Fix install_libcuda(const Context& context) {
  const auto branch = context.driver ? std::to_string(context.driver->major()) : std::string();
  const auto& ids = context.snapshot.os_ids;
  const bool is_ubuntu = std::find(ids.begin(), ids.end(), "ubuntu") != ids.end() ||
                         context.snapshot.os.starts_with("Ubuntu");
  Names names = {{PackageManager::apt, {"libcuda1"}},
                 {PackageManager::dnf, {"nvidia-driver-cuda-libs"}},
                 {PackageManager::pacman, {"nvidia-utils"}}};
  if (is_ubuntu) {
    names.erase(PackageManager::apt);
    if (!branch.empty()) {
      names[PackageManager::apt] = {"libnvidia-compute-" + branch};
    }
  }
  auto action = install_by(context, names);
  const auto* effect = "on the machine itself; of the same version as the kernel module";
  return action.command.empty()
             ? by_hand(
                   "install the driver's compute libraries, of the version of its kernel module",
                   effect)
             : by_command(action, effect);
}

Fix conda_install(const std::string& prefix, const std::vector<std::string>& packages,
                  std::string effect) {
  std::vector<std::string> words{"conda", "install"};
  words.insert(words.end(), packages.begin(), packages.end());
  if (!prefix.empty()) {
    words.insert(words.end(), {"-p", prefix});
  }
  return by_command(ShellCommand(words), std::move(effect));
}

} // namespace cukit::doctor
