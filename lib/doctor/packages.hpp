// Packages of the system and of conda: what a part is called where this machine takes packages
// from, and the command that installs it. Private to doctor.
#pragma once

#include "doctor/context.hpp"

namespace cukit::doctor {

enum class PackageManager { apt, dnf, zypper, pacman, apk, unknown };

/// By os-release; an older snapshot has its name alone.
PackageManager package_manager_of(const survey::Snapshot& snapshot);

/// g++ with the C library's headers; of a major version when it is not 0.
Fix install_gxx(const Context& context, int major = 0);
/// Python.h
Fix install_python_headers(const Context& context);
/// cmake, ninja, make, git and their like, by the program's name.
Fix install_program(const Context& context, const std::string& name);
/// NVIDIA's package of a toolkit's component for a minor, with its headers: cuda-cudart-dev-12-8.
/// `kit`: where it will lie.
Fix install_component(const Context& context, const survey::Toolkit& kit,
                      const std::string& component, const std::string& minor);
/// The whole toolkit of a minor: cuda-toolkit-12-8.
Fix install_toolkit(const Context& context, const std::string& minor);
/// The driver's libcuda, of the branch of the driver that is here.
Fix install_libcuda(const Context& context);
/// `conda install -p PREFIX ...`, which adds components to the toolkit there.
Fix conda_install(const std::string& prefix, const std::vector<std::string>& packages,
                  std::string effect);

} // namespace cukit::doctor
