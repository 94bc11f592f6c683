// Where a toolkit can be. Only named places are looked at, and one level of a few folders is
// listed, so that a root with any number of files costs the same.
#include "base/strings.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace cukit::survey {

namespace {

class Candidates {
public:
  explicit Candidates(const RootView& view) : view_(view) {}

  void add(std::string root, std::string found_by, std::string environment = {}) {
    while (root.size() > 1 && root.ends_with('/')) {
      root.pop_back();
    }
    if (root.starts_with('/')) {
      list_.push_back({std::move(root), std::move(found_by), std::move(environment)});
    }
  }
  /// The tree of a program: bin/nvcc -> its grandparent; also where a wrapper leads.
  void add_program(const std::string& program, const std::string& found_by) {
    const auto tool = scan_tool(view_, program);
    if (!tool) {
      return;
    }
    add(parent_of(parent_of(program)), found_by);
    const auto folder = view_.find(parent_of(program)); // a linked folder is the same tree
    for (const auto& other : {tool->real, tool->wraps}) {
      if (!other.empty() && folder && parent_of(other) != folder->real) {
        add(parent_of(parent_of(other)), found_by + " (behind " + program + ")");
        if (parent_of(other) == "/usr/lib/nvidia-cuda-toolkit/bin") {
          add("/usr/lib/nvidia-cuda-toolkit", found_by);
        }
      }
    }
  }
  /// Every folder of `parent` whose name begins with `prefix`.
  void add_children(const std::string& parent, std::string_view prefix,
                    const std::string& tail = {}) {
    for (const auto& name : view_.list(parent)) {
      if (name.starts_with(prefix)) {
        add(join_path(join_path(parent, name), tail), join_path(parent, name));
      }
    }
  }
  [[nodiscard]] std::vector<Candidate> take() { return std::move(list_); }

private:
  const RootView& view_;
  std::vector<Candidate> list_;
};

/// A list that the recipes may repeat, each name once.
std::vector<std::string> with(std::vector<std::string> names,
                              const std::vector<std::string>& more) {
  for (const auto& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

/// An include folder, or a folder of a toolkit, in words for a compiler; `--option=/root` too.
void add_flags(Candidates& candidates, const std::string& name, const std::string& flags) {
  for (auto word : split_words(flags)) {
    const auto slash = word.find('/');
    if (slash == std::string_view::npos || !(word.starts_with('-') || word.starts_with('/'))) {
      continue;
    }
    const bool is_value = slash > 0 && word[slash - 1] == '=';
    word.remove_prefix(slash);
    if (is_value) {
      candidates.add(std::string(word), name);
    }
    if (name_of(word) == "include") {
      candidates.add(parent_of(word), name);
    }
  }
}

void add_variables(Candidates& candidates, const SnapshotRequest& request) {
  const auto& environment = request.environment;
  const auto& clues = request.clues;
  for (const auto& name : with({"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"}, clues.roots)) {
    if (const auto value = environment.get(name)) {
      candidates.add(*value, name);
      if (name_of(*value) == "bin" || name_of(*value) == "include") {
        candidates.add(parent_of(*value), name);
      } else if (name_of(parent_of(*value)) == "bin") {
        candidates.add_program(*value, name);
      }
    }
  }
  for (const auto& name : with({"CUDACXX"}, clues.programs)) {
    // the program is the last word: `ccache /opt/cuda/bin/nvcc`
    const auto value = environment.get(name).value_or("");
    const auto words = split_words(value);
    if (!words.empty() && words.back().starts_with('/')) {
      candidates.add_program(std::string(words.back()), name);
    }
  }
  for (const auto& folder : path_folders(environment, "PATH")) {
    candidates.add_program(join_path(folder, "nvcc"), "PATH");
    candidates.add_program(join_path(folder, "ptxas"), "PATH");
  }
  // an include folder of another toolkit on a compiler's path makes that toolkit part of the story
  for (const auto& name : with({"CPATH"}, clues.folders)) {
    for (const auto& folder : path_folders(environment, name)) {
      candidates.add(parent_of(folder), name);
    }
  }
  for (const auto& name : with({"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}, clues.flags)) {
    add_flags(candidates, name, environment.get(name).value_or(""));
  }
}

void add_wheels(Candidates& candidates, const RootView& view, const PythonEnvironment& python) {
  for (const auto& site : python.site_packages) {
    const auto nvidia = join_path(site, "nvidia");
    for (const auto& name : view.list(nvidia)) {
      if (name.starts_with("cu") && name.find_first_not_of("0123456789", 2) == std::string::npos) {
        candidates.add(join_path(nvidia, name), "wheels", python.prefix);
      } else if (name == "cuda_nvcc" || name == "cuda_runtime" || name == "cuda_nvrtc" ||
                 name == "nvjitlink") {
        candidates.add(join_path(nvidia, name), "wheels", python.prefix);
      }
    }
  }
}

void add_usual_folders(Candidates& candidates, const RootView& view,
                       const Environment& environment) {
  candidates.add("/usr/local/cuda", "/usr/local/cuda");
  candidates.add_children("/usr/local", "cuda-");
  candidates.add_children("/opt", "cuda");
  candidates.add("/etc/alternatives/cuda", "/etc/alternatives/cuda");
  candidates.add("/usr/lib/cuda", "/usr/lib/cuda");
  candidates.add("/usr/lib/nvidia-cuda-toolkit", "/usr/lib/nvidia-cuda-toolkit");
  candidates.add("/run/current-system/sw", "NixOS");
  for (const auto& machine : view.list("/opt/nvidia/hpc_sdk")) {
    for (const auto& release : view.list("/opt/nvidia/hpc_sdk/" + machine)) {
      candidates.add_children(fmt::format("/opt/nvidia/hpc_sdk/{}/{}/cuda", machine, release), "");
    }
  }
  for (const auto& name : view.list("/nix/store")) {
    if (name.find("-cuda-merged-") != std::string::npos ||
        name.find("-cudatoolkit-") != std::string::npos ||
        name.find("-cuda_nvcc-") != std::string::npos) {
      candidates.add("/nix/store/" + name, "Nix");
    }
  }
  std::vector<std::string> stores{"/opt/spack/opt/spack", "/spack/opt/spack"};
  if (const auto spack = environment.get("SPACK_ROOT")) {
    stores.push_back(join_path(*spack, "opt/spack"));
  }
  for (const auto& spack : stores) {
    for (const auto& platform : view.list(spack)) {
      for (const auto& compiler : view.list(join_path(spack, platform))) {
        if (compiler.starts_with("cuda-")) { // Spack 1.0 has no folder per compiler
          candidates.add(join_path(spack, platform + "/" + compiler), "Spack");
        } else {
          candidates.add_children(join_path(spack, platform + "/" + compiler), "cuda-");
        }
      }
    }
  }
}

/// `setenv CUDA_HOME /apps/cuda/13.0` and Lua's `setenv("CUDA_HOME", "...")` of module files.
void add_module_files(Candidates& candidates, const RootView& view,
                      const Environment& environment) {
  std::vector<std::string> folders{"/usr/share/modules/modulefiles/cuda", "/etc/modulefiles/cuda",
                                   "/usr/share/lmod/lmod/modulefiles/cuda",
                                   "/opt/modulefiles/cuda"};
  for (const auto& folder : path_folders(environment, "MODULEPATH")) {
    folders.push_back(join_path(folder, "cuda"));
  }
  for (const auto& folder : folders) {
    for (const auto& name : view.list(folder)) {
      const auto text = view.head(join_path(folder, name), 16U << 10U);
      for (const auto line : split(text, '\n')) {
        const auto at = line.find("CUDA_HOME");
        const auto slash = at == std::string_view::npos ? at : line.find('/', at);
        if (slash != std::string_view::npos) {
          const auto path = line.substr(slash);
          candidates.add(std::string(path.substr(0, path.find_first_of(" \t\"');}"))),
                         "module " + join_path(folder, name));
        }
      }
    }
  }
}

} // namespace

std::vector<std::string> path_folders(const Environment& environment, const std::string& name) {
  std::vector<std::string> result;
  const std::string value = environment.get(name).value_or("");
  std::unordered_set<std::string_view> seen;
  std::size_t count = 0;
  for (const auto folder : split(value, ':')) {
    if (++count > k_path_folders) {
      break;
    }
    if (folder.starts_with('/') && seen.insert(folder).second) {
      result.emplace_back(folder);
    }
  }
  return result;
}

std::vector<Candidate> toolkit_candidates(const RootView& view, const SnapshotRequest& request,
                                          const std::vector<PythonEnvironment>& pythons) {
  const auto& environment = request.environment;
  Candidates candidates(view);
  add_variables(candidates, request);
  add_usual_folders(candidates, view, environment);
  for (const auto& python : pythons) {
    add_wheels(candidates, view, python);
    if (python.is_conda) {
      candidates.add(python.prefix, "conda", python.prefix);
    }
  }
  if (const auto conda = environment.get("CONDA_PREFIX")) {
    candidates.add(*conda, "conda", *conda);
  }
  add_module_files(candidates, view, environment);
  return candidates.take();
}

} // namespace cukit::survey
