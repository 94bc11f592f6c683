#include "venv/judge.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace cukit::venv {

namespace {

constexpr const char* k_nvcc = "nvidia-cuda-nvcc";
constexpr const char* k_nvvm = "nvidia-nvvm";
constexpr const char* k_crt = "nvidia-cuda-crt";
constexpr const char* k_runtime = "nvidia-cuda-runtime";
constexpr const char* k_cccl = "nvidia-cuda-cccl";

/// The installed distribution with files in that folder; CUDA 12's names end in -cu12.
const Dist* owner_in(const Inventory& inventory, const CudaFolder& folder,
                     const std::string& project) {
  for (const auto& [name, files] : folder.files_of) {
    if (name == project || name.starts_with(project + "-cu")) {
      return inventory.find(name);
    }
  }
  return nullptr;
}

class FolderParts {
public:
  FolderParts(const Inventory& inventory, const CudaFolder& folder)
      : inventory_(inventory), folder_(folder), kit_(*folder.toolkit) {}

  std::vector<Part> take() {
    add_tool("nvcc", "nvcc", k_nvcc);
    add_tool("cicc", "cicc", k_nvvm);
    add_tool("ptxas", "ptxas", k_nvcc);
    add_tool("nvlink", "nvlink", k_nvcc);
    if (kit_.headers.contains("crt/host_config.h")) {
      add_dist("crt", k_crt);
    }
    if (!kit_.cudart.empty()) {
      parts_.push_back({"headers", kit_.cudart, kit_.include + "/cuda_runtime_api.h"});
    }
    if (!kit_.cccl.empty()) {
      parts_.push_back({"CCCL", kit_.cccl, kit_.cccl_include});
    }
    for (const auto& [file, project] : {std::pair{"libcudart.so.", k_runtime},
                                        {"libnvrtc.so.", "nvidia-cuda-nvrtc"},
                                        {"libnvJitLink.so.", "nvidia-nvjitlink"},
                                        {"libnvvm.so.", k_nvvm}}) {
      add_library(file, project);
    }
    return std::move(parts_);
  }

private:
  void add_dist(const std::string& name, const std::string& project) {
    if (const auto* dist = owner_in(inventory_, folder_, project)) {
      parts_.push_back({name, dist->version, dist->name});
    }
  }
  void add_tool(const std::string& name, const char* tool, const char* project) {
    const auto found = kit_.tools.find(tool);
    if (found == kit_.tools.end()) {
      return;
    }
    const auto* dist = owner_in(inventory_, folder_, project);
    const auto& read = found->second.version;
    parts_.push_back({name, read.empty() && dist != nullptr ? dist->version : read,
                      read.empty() && dist != nullptr ? dist->name : found->second.path});
  }
  void add_library(const std::string& prefix, const std::string& project) {
    const auto found =
        std::find_if(kit_.libraries.begin(), kit_.libraries.end(),
                     [&](const auto& library) { return library.first.starts_with(prefix); });
    if (found != kit_.libraries.end()) {
      const auto* dist = owner_in(inventory_, folder_, project);
      parts_.push_back({found->first, dist == nullptr ? std::string() : dist->version,
                        dist == nullptr ? found->second : dist->name});
    }
  }

  const Inventory& inventory_;
  const CudaFolder& folder_;
  const survey::Toolkit& kit_;
  std::vector<Part> parts_;
};

std::optional<Version> version_of(const std::vector<Part>& parts, std::string_view name) {
  for (const auto& part : parts) {
    const auto version =
        part.name == name ? Version::parse(part.version) : tl::unexpected<Error>(Error{});
    if (version) {
      return *version;
    }
  }
  return std::nullopt;
}

std::string some_of(const std::vector<std::string>& list) {
  constexpr std::size_t shown = 3;
  const auto more = list.size() - std::min(list.size(), shown);
  return join({list.begin(), list.end() - static_cast<std::ptrdiff_t>(more)}, ", ") +
         (more > 0 ? fmt::format(" and {} more", more) : std::string());
}

class Judge {
public:
  Judge(const Inventory& inventory, const std::vector<knowledge::Release>& releases)
      : inventory_(inventory), releases_(releases) {}

  std::vector<Trouble> take() {
    for (const auto& folder : inventory_.folders) {
      look_at_compiler(folder);
    }
    look_at_pins();
    for (const auto& folder : inventory_.folders) {
      look_at_files(folder, FileState::clobbered, "changed-files",
                    "not as their packages brought them");
      look_at_files(folder, FileState::missing, "missing-files", "gone");
    }
    look_at_records();
    return std::move(troubles_);
  }

private:
  [[nodiscard]] std::string place() const { return printable(inventory_.place.prefix.string()); }
  [[nodiscard]] std::string way_to_mend() const {
    return fmt::format("`cukit venv plan {}` shows the smallest change that mends it", place());
  }

  /// What a compiler in that folder needs of its neighbours, the earliest failure first.
  void look_at_compiler(const CudaFolder& folder) {
    if (!folder.toolkit || !folder.toolkit->tools.contains("nvcc")) {
      return;
    }
    const auto parts = parts_of(inventory_, folder);
    const auto nvcc = version_of(parts, "nvcc");
    const auto& kit = *folder.toolkit;
    std::vector<std::string> lacking;
    const auto need = [&](bool is_there, const char* what) {
      if (!is_there) {
        lacking.emplace_back(what);
      }
    };
    need(kit.tools.contains("cicc"), "nvidia-nvvm (cicc)");
    need(kit.headers.contains("crt/host_config.h"), "nvidia-cuda-crt (crt/host_config.h)");
    need(!kit.cudart.empty(), "nvidia-cuda-runtime (cuda_runtime_api.h)");
    need(!kit.cccl_include.empty(), "nvidia-cuda-cccl (cuda/std)");
    if (!lacking.empty()) {
      add("lacking", fmt::format("{} has an nvcc{}, but lacks {}", folder.name,
                                 nvcc ? " " + nvcc->text() : "", join(lacking, ", ")));
    }
    if (nvcc) {
      compare(folder, parts, *nvcc);
    }
  }

  void compare(const CudaFolder& folder, const std::vector<Part>& parts, const Version& nvcc) {
    const auto cicc = version_of(parts, "cicc");
    const auto ptxas = version_of(parts, "ptxas");
    if (cicc && *cicc != nvcc) {
      const bool newer = ptxas && *cicc > *ptxas && !cicc->same_minor(*ptxas);
      add("compiler-parts",
          newer ? fmt::format("cicc {} (nvidia-nvvm) is newer than ptxas {} (nvidia-cuda-nvcc), "
                              "which cannot read its PTX",
                              cicc->text(), ptxas->text())
                : fmt::format("cicc {} (nvidia-nvvm) and nvcc {} (nvidia-cuda-nvcc) are one "
                              "program in two packages, at two versions",
                              cicc->text(), nvcc.text()));
    }
    if (const auto crt = version_of(parts, "crt"); crt && *crt != nvcc) {
      add("compiler-parts", fmt::format("nvidia-cuda-crt {} is not of nvcc {}, whose code includes "
                                        "its headers",
                                        crt->text(), nvcc.text()));
    }
    if (const auto headers = version_of(parts, "headers"); headers && !headers->same_minor(nvcc)) {
      add("compiler-and-headers",
          fmt::format("nvcc {} stands beside headers of CUDA {}: CCCL stops with `CUDA compiler "
                      "and CUDA toolkit headers are incompatible`",
                      nvcc.text(), headers->text()));
    }
    const auto* release = knowledge::find_release(releases_, nvcc);
    const auto cccl = version_of(parts, "CCCL");
    if (release != nullptr && cccl && *cccl < release->cccl && !cccl->same_minor(release->cccl)) {
      add("cccl", fmt::format("CCCL {} is older than nvcc {}, which came with {}", cccl->text(),
                              nvcc.text(), release->cccl.text()));
    }
    if (folder.toolkit->nv_target_cccl == "differs") {
      add("cccl", fmt::format("{}/include/nv is of another CCCL than include/cccl, and is found "
                              "first",
                              folder.name));
    }
  }

  void look_at_pins() {
    for (const auto& pin : inventory_.pins) {
      if (pin.holds) {
        continue;
      }
      const auto by = pin.because.empty() ? pin.by : fmt::format("{} ({})", pin.because, pin.by);
      troubles_.push_back(
          {.id = "pin",
           .text = fmt::format("{} wants {}, and {}", by, pin.text,
                               pin.installed.empty() ? "it is not installed"
                                                     : pin.installed + " is installed"),
           .next = fmt::format("install `{}` again, or a {} that takes another", pin.text,
                               pin.because.empty() ? pin.by : pin.because)});
    }
  }

  void look_at_files(const CudaFolder& folder, FileState state, const char* id, const char* what) {
    std::set<std::string> owners;
    std::vector<std::string> paths;
    for (const auto& file : folder.odd) {
      if (file.state == state) {
        paths.push_back(file.path);
        for (const auto& owner : file.owners) {
          if (owner != file.bytes_of) {
            owners.insert(owner);
          }
        }
      }
    }
    if (paths.empty()) {
      return;
    }
    std::vector<std::string> wanted;
    for (const auto& owner : owners) {
      const auto* dist = inventory_.find(owner);
      wanted.push_back(fmt::format("{}=={}", owner, dist == nullptr ? "" : dist->version));
    }
    troubles_.push_back(
        {.id = id,
         .text = fmt::format("{} of {} {} {}: {}",
                             paths.size() == 1 ? std::string("a file")
                                               : fmt::format("{} files", paths.size()),
                             join({owners.begin(), owners.end()}, ", "),
                             paths.size() == 1 ? "is" : "are", what, printable(some_of(paths))),
         .next = fmt::format("`pip install --force-reinstall --no-deps {}`", join(wanted, " "))});
  }

  void look_at_records() {
    for (std::size_t i = 0; i < inventory_.dists.size(); ++i) {
      const auto& dist = inventory_.dists[i];
      if (!dist.outside.empty()) {
        troubles_.push_back({.id = "record-leads-out",
                             .text = fmt::format("RECORD of {} names files outside of the "
                                                 "environment: {}",
                                                 dist.name, printable(some_of(dist.outside))),
                             .next = "do not uninstall it before you know where it came from"});
      }
      if (!is_of_cuda(dist)) {
        continue;
      }
      if (i > 0 && inventory_.dists[i - 1].name == dist.name) {
        const auto& other = inventory_.dists[i - 1];
        troubles_.push_back({.id = "twice",
                             .text = fmt::format("{} is recorded twice: {} and {}", dist.name,
                                                 printable(other.version), printable(dist.version)),
                             .next = fmt::format("`pip uninstall {}` until it says that it is not "
                                                 "installed, then install one",
                                                 dist.name)});
      }
      if (!dist.has_record) {
        troubles_.push_back({.id = "no-record",
                             .text = fmt::format("{} {} has no RECORD: nobody can tell its files",
                                                 dist.name, printable(dist.version)),
                             .next = fmt::format("`pip install --force-reinstall --no-deps "
                                                 "{}=={}`",
                                                 dist.name, printable(dist.version))});
      }
    }
  }

  void add(const char* id, std::string text) {
    troubles_.push_back({.id = id, .text = std::move(text), .next = way_to_mend()});
  }

  const Inventory& inventory_;
  const std::vector<knowledge::Release>& releases_;
  std::vector<Trouble> troubles_;
};

} // namespace

std::vector<Part> parts_of(const Inventory& inventory, const CudaFolder& folder) {
  return folder.toolkit ? FolderParts(inventory, folder).take() : std::vector<Part>();
}

Result<std::vector<Trouble>> judge(const Inventory& inventory,
                                   const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto* releases, knowledge.releases());
  return Judge(inventory, *releases).take();
}

} // namespace cukit::venv
