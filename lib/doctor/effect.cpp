#include "doctor/effect.hpp"

#include "base/strings.hpp"
#include "catalog/requirement.hpp"
#include "fit/torch.hpp"
#include "survey/root_view.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using survey::Snapshot;
using survey::Toolkit;

/// A program that is found first once this folder goes first in PATH.
void put_program_first(const Snapshot& snapshot, const std::string& folder, const char* name,
                       std::vector<std::string>& list) {
  const auto path = folder + "/" + name;
  const auto is_there = [&](const Toolkit& kit) {
    const auto tool = kit.tools.find(name);
    return tool != kit.tools.end() && (tool->second.path == path || tool->second.real == path ||
                                       (survey::name_of(folder) == "bin" &&
                                        survey::is_root_of(kit, survey::parent_of(folder))));
  };
  if (std::any_of(snapshot.toolkits.begin(), snapshot.toolkits.end(), is_there)) {
    std::erase(list, path);
    list.insert(list.begin(), path);
  }
}

/// Folders of the loader that go before all others, or are no longer looked into.
void put_libraries_first(Snapshot& snapshot, const std::string& folder) {
  survey::LibraryFolder added{.path = folder};
  for (const auto& kit : snapshot.toolkits) {
    for (const auto& [name, path] : kit.libraries) {
      if (survey::parent_of(path) == folder) {
        added.libraries.emplace(name, path);
        added.nvjitlink = name.starts_with("libnvJitLink") ? kit.nvjitlink : added.nvjitlink;
      }
    }
  }
  if (!added.libraries.empty()) {
    snapshot.library_path.insert(snapshot.library_path.begin(), std::move(added));
  }
  for (auto& python : snapshot.pythons) {
    std::erase_if(python.load_problems, [&](const auto& problem) {
      return problem.own_has_them && survey::parent_of(problem.own) == folder &&
             !problem.led_by.starts_with("RPATH");
    });
  }
  auto& drivers = snapshot.driver_libraries;
  const auto first = std::stable_partition(drivers.begin(), drivers.end(), [&](const auto& one) {
    return survey::parent_of(one.path) == folder;
  });
  std::for_each(drivers.begin(), first, [](auto& one) { one.led_by = "LD_LIBRARY_PATH"; });
}

void forget_library_path(Snapshot& snapshot) {
  const auto is_of_it = [](const auto& item) { return item.led_by == "LD_LIBRARY_PATH"; };
  snapshot.library_path.clear();
  std::erase_if(snapshot.driver_libraries, is_of_it);
  for (auto& python : snapshot.pythons) {
    std::erase_if(python.load_problems, [&](const auto& problem) {
      return is_of_it(problem) && (problem.own.empty() || problem.own_has_them);
    });
  }
}

class Change {
public:
  Change(Snapshot& snapshot, const Parts& parts) : snapshot_(snapshot), parts_(parts) {}

  void operator()(const SetsVariable& effect) {
    auto& value = snapshot_.environment[effect.name];
    value = effect.is_prepended && !value.empty() ? effect.value + ":" + value : effect.value;
    if (effect.name == "PATH") {
      put_program_first(snapshot_, effect.value, "nvcc", snapshot_.path_nvcc);
      put_program_first(snapshot_, effect.value, "ptxas", snapshot_.path_ptxas);
      std::stable_partition(
          snapshot_.compilers.begin(), snapshot_.compilers.end(),
          [&](const auto& compiler) { return survey::parent_of(compiler.path) == effect.value; });
    } else if (effect.name == "LD_LIBRARY_PATH") {
      if (!effect.is_prepended) {
        forget_library_path(snapshot_);
      }
      put_libraries_first(snapshot_, effect.value);
    }
  }

  void operator()(const UnsetsVariable& effect) {
    snapshot_.environment.erase(effect.name);
    if (effect.name == "LD_LIBRARY_PATH") {
      forget_library_path(snapshot_);
    }
  }

  void operator()(const InstallsWheels& effect) {
    for (auto& python : snapshot_.pythons) {
      for (const auto& text : effect.requirements) {
        const auto wanted = catalog::Requirement::parse(text);
        if (python.prefix == effect.prefix && wanted) {
          install(python, *wanted,
                  text.substr(text.find("==") == std::string::npos ? text.size()
                                                                   : text.find("==") + 2));
        }
      }
    }
  }

  void operator()(const RemovesWheel& effect) {
    for (auto& python : snapshot_.pythons) {
      if (python.prefix == effect.prefix) {
        std::erase_if(python.distributions,
                      [&](const auto& dist) { return dist.name == effect.name; });
        std::erase_if(python.extensions,
                      [&](const auto& one) { return one.distribution == effect.name; });
        for (auto& clobber : python.clobbers) {
          std::erase(clobber.owners, effect.name); // the file itself goes, too
        }
      }
    }
  }

  void operator()(const RemovesFolder& effect) {
    std::erase_if(snapshot_.caches, [&](const auto& entry) { return entry.path == effect.path; });
  }

  void operator()(const AddsCompiler& effect) {
    snapshot_.compilers.push_back(
        {.path = effect.path, .real = effect.path, .kind = "gcc", .version = effect.version});
  }

  void operator()(const AddsComponents& effect) {
    for (auto& kit : snapshot_.toolkits) {
      if (survey::is_root_of(kit, effect.root)) {
        for (const auto& name : effect.components) {
          add_component(kit, name, release_of(kit));
        }
      }
    }
  }

  void operator()(const AddsLink& effect) {
    const auto* owner = survey::toolkit_of(snapshot_, effect.path);
    for (auto& kit : snapshot_.toolkits) {
      if (&kit == owner) {
        add_name(kit, below(kit, effect.path), effect);
      }
    }
  }

private:
  /// A path without the longest of the toolkit's names.
  static std::string below(const Toolkit& kit, const std::string& path) {
    std::string rest = path;
    const auto shorten = [&](const std::string& root) {
      if (path.starts_with(root + "/") && path.size() - root.size() - 1 < rest.size()) {
        rest = path.substr(root.size() + 1);
      }
    };
    shorten(kit.root);
    shorten(kit.real);
    std::for_each(kit.aliases.begin(), kit.aliases.end(), shorten);
    return rest;
  }

  static void add_name(Toolkit& kit, const std::string& name, const AddsLink& effect) {
    auto& folders = kit.library_folders;
    const auto add_folder = [&](const std::string& folder) {
      if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
        folders.push_back(folder);
      }
    };
    if (std::find(folders.begin(), folders.end(), effect.target) != folders.end()) {
      add_folder(name); // lib64 -> lib
    } else if (name.find(".so") != std::string::npos) {
      kit.libraries.emplace(std::string(survey::name_of(name)), effect.path);
      add_folder(survey::parent_of(name));
    }
  }

  static std::string release_of(const Toolkit& kit) {
    const auto nvcc = kit.tools.find("nvcc");
    return nvcc == kit.tools.end() ? kit.cudart : nvcc->second.version;
  }

  const knowledge::Component* component_of_project(const std::string& project,
                                                   const Version& cuda) const {
    const auto found =
        std::find_if(parts_.components.begin(), parts_.components.end(), [&](const auto& one) {
          return !one.project.empty() &&
                 (one.project_of(cuda) == project ||
                  fmt::format("{}-cu{}", one.project, cuda.major()) == project);
        });
    return found == parts_.components.end() ? nullptr : &*found;
  }

  /// A requirement with a version; one without brings what nobody can tell beforehand.
  void install(survey::PythonEnvironment& python, const catalog::Requirement& wanted,
               const std::string& text) {
    const auto number = text.substr(0, text.find_first_of(", ;*"));
    const auto version =
        std::string(number.ends_with('.') ? number.substr(0, number.size() - 1) : number);
    const auto* installed = survey::find_distribution(python, wanted.project);
    const auto parsed =
        Version::parse(version.empty() && installed != nullptr ? installed->version : version);
    if (!parsed) { // one that is not here comes in a version that nobody can tell
      reinstall(python, wanted.project, {});
      return;
    }
    if (wanted.project == "cuda-toolkit") {
      for (const auto& extra : wanted.extras) {
        const auto& all = parts_.components;
        const auto component = std::find_if(all.begin(), all.end(),
                                            [&](const auto& one) { return one.extra == extra; });
        if (component != all.end()) {
          set_component(python, *component, component->project_of(*parsed), version);
        }
      }
      return;
    }
    if (const auto* component = component_of_project(wanted.project, *parsed)) {
      set_component(python, *component, wanted.project, parsed->text());
      return;
    }
    reinstall(python, wanted.project, version);
    if (wanted.project == "torch" && !version.empty()) {
      const auto cuda = fit::cuda_of_tag(fit::TorchName::parse(version).tag);
      python.torch = version;
      python.torch_cuda = cuda ? cuda->major_minor() : std::string();
    }
  }

  /// A distribution as its wheel brings it: its own files, and no trace of an older build.
  static void reinstall(survey::PythonEnvironment& python, const std::string& name,
                        const std::string& version) {
    const auto dist = std::find_if(python.distributions.begin(), python.distributions.end(),
                                   [&](const auto& one) { return one.name == name; });
    if (dist == python.distributions.end()) {
      python.distributions.push_back({.name = name, .version = version, .path = {}});
    } else if (!version.empty()) {
      dist->version = version;
    }
    std::erase_if(python.extensions, [&](const auto& one) { return one.distribution == name; });
    std::erase_if(python.load_problems, [&](const auto& one) { return one.distribution == name; });
    std::erase_if(python.clobbers, [&](const auto& one) {
      return std::all_of(one.owners.begin(), one.owners.end(),
                         [&](const auto& owner) { return owner == name; });
    });
  }

  void set_component(survey::PythonEnvironment& python, const knowledge::Component& component,
                     const std::string& project, const std::string& version) {
    reinstall(python, project, version);
    for (auto& kit : snapshot_.toolkits) {
      const bool is_of_wheels =
          std::find(kit.found_by.begin(), kit.found_by.end(), "wheels") != kit.found_by.end();
      if (kit.environment == python.prefix && is_of_wheels) {
        kit.owners[project] = version;
        add_component(kit, component.name, version);
      }
    }
  }

  /// The files that a component's recipe says it brings, of this release.
  void add_component(Toolkit& kit, const std::string& name, const std::string& version) {
    const auto* component = knowledge::find_component(parts_.components, name);
    if (component == nullptr) {
      return;
    }
    const auto include = kit.include.empty() ? kit.root + "/include" : kit.include;
    for (const auto& file : component->provides) {
      const std::string base(survey::name_of(file));
      if (file.starts_with("bin/") || file.starts_with("nvvm/bin/")) {
        auto& tool = kit.tools[base];
        tool.path = tool.path.empty() ? kit.root + "/" + file : tool.path;
        tool.real = tool.real.empty() ? tool.path : tool.real;
        tool.version = version;
      } else if (file.starts_with("include/")) {
        kit.headers.insert(file.substr(std::string_view("include/").size()));
        kit.include = include;
      } else if (file.starts_with("lib/")) {
        kit.libraries.emplace(base, kit.root + "/" + file);
      }
    }
    settle(kit, name, version);
  }

  /// What a look reads out of the files of these components.
  void settle(Toolkit& kit, const std::string& name, const std::string& version) {
    const auto parsed = Version::parse(version);
    const auto minor = parsed ? parsed->major_minor() : std::string();
    if (name == "cudart") {
      kit.cudart = minor;
      kit.headers.insert({"cuda_runtime.h", "vector_types.h", "cuda_fp16.h"});
    } else if (name == "crt") {
      kit.headers.insert({"crt/host_defines.h", "crt/host_config.h"});
      kit.launch_arguments = 0; // those of its release, which is nvcc's
    } else if (name == "nvrtc" && !minor.empty()) {
      kit.libraries.emplace("libnvrtc-builtins.so." + minor,
                            kit.root + "/lib/libnvrtc-builtins.so." + minor);
    } else if (name == "cccl") {
      const auto* release = parsed ? knowledge::find_release(parts_.releases, *parsed) : nullptr;
      kit.headers.insert({"nv/target", "cccl/nv/target"});
      kit.cccl = release == nullptr ? std::string() : release->cccl.text();
      kit.cccl_outer.clear();
      kit.nv_target_cccl = "same";
      kit.cmake_packages.clear();
    }
  }

  Snapshot& snapshot_;
  const Parts& parts_;
};

} // namespace

Snapshot after(Snapshot snapshot, const std::vector<Effect>& effects, const Parts& parts) {
  Change change(snapshot, parts);
  for (const auto& effect : effects) {
    std::visit(change, effect);
  }
  return snapshot;
}

} // namespace cukit::doctor
