// Python environments by their files: what is installed, which wheels pin what, who overwrote whom.
#include "base/number.hpp"
#include "base/strings.hpp"
#include "model/project_name.hpp"
#include "survey/elf_facts.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace cukit::survey {

namespace {

constexpr std::uint64_t k_record_bytes = 4U << 20U;
constexpr std::size_t k_metadata_head = 64U << 10U; // Requires-Dist stands before the description
constexpr std::size_t k_extensions_per_distribution = 6;
constexpr std::size_t k_clobber_limit = 200;

/// CUDA's own wheels, and those of its consumers.
bool concerns_cuda(std::string_view name, const Clues& clues) {
  static constexpr std::array prefixes = {"nvidia-", "cuda-", "torch", "nixl"};
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); }) ||
         std::any_of(clues.packages.begin(), clues.packages.end(),
                     [&](const auto& one) { return name.starts_with(one); });
}

/// Wheels whose own libraries say nothing new: CUDA itself, torch with its 11,000 files, numerics,
/// and what brings parts of a toolkit.
bool has_no_extension(std::string_view name, const Clues& clues) {
  static constexpr std::array skipped = {"torch", "numpy", "scipy", "pandas", "pyarrow"};
  return name.starts_with("nvidia-") ||
         std::find(skipped.begin(), skipped.end(), name) != skipped.end() ||
         std::any_of(clues.bundles.begin(), clues.bundles.end(), [&](const Bundle& bundle) {
           return std::any_of(bundle.packages.begin(), bundle.packages.end(),
                              [&](const auto& package) { return matches(package, name); });
         });
}

/// Requires-Dist of METADATA, as far as it concerns CUDA.
void read_requirements(const RootView& view, const Clues& clues, Distribution& dist) {
  const auto text = view.head(join_path(dist.path, "METADATA"), k_metadata_head);
  for (const auto line : split(text, '\n')) {
    if (trim(line).empty()) {
      break; // the description follows
    }
    constexpr std::string_view key = "Requires-Dist: ";
    if (line.starts_with("Version: ")) {
      dist.version = trim(line.substr(9));
    } else if (line.starts_with(key) && dist.name != "cuda-toolkit" &&
               concerns_cuda(normalised_project(line.substr(key.size())), clues)) {
      dist.requirements.emplace_back(trim(line.substr(key.size())));
    }
  }
}

Distribution read_distribution(const RootView& view, const std::string& path,
                               std::string_view folder_name, const Clues& clues) {
  Distribution result{.path = path};
  folder_name.remove_suffix(std::string_view(".dist-info").size());
  const auto dash = folder_name.rfind('-');
  result.name = normalised_project(folder_name.substr(0, dash));
  result.version = dash == std::string_view::npos ? "" : std::string(folder_name.substr(dash + 1));
  if (concerns_cuda(result.name, clues)) {
    read_requirements(view, clues, result);
  }
  return result;
}

struct RecordRow {
  std::string_view path;
  std::optional<std::uint64_t> size;
};

/// path,sha256=...,size; quoted paths are not those of libraries and are passed over.
template <typename Use> void for_each_row(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto last = line.rfind(',');
    const auto first = line.find(',');
    if (line.empty() || line.front() == '"' || first == std::string_view::npos) {
      continue;
    }
    use(RecordRow{.path = line.substr(0, first), .size = whole_number(line.substr(last + 1))});
  }
}

/// NVIDIA's libraries that wheels of their own bring beside those of CUDA.
bool is_built_on_cuda(std::string_view name) {
  static constexpr std::array known = {"libnccl.so",   "libcudnn",    "libcutensor",  "libnvshmem",
                                       "libcufile.so", "libcupti.so", "libnvToolsExt"};
  return std::any_of(known.begin(), known.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

std::vector<std::string> cuda_needs(const RootView& view, const std::string& path) {
  std::vector<std::string> result;
  for (const auto& name : read_elf_facts(view, path).needed) {
    if ((is_cuda_library(name) || is_built_on_cuda(name)) && !name.starts_with("libcuda.so")) {
      result.push_back(name);
    }
  }
  return result;
}

/// Extension modules of one wheel that are linked to CUDA's libraries.
void scan_extensions(const RootView& view, const std::string& site, const Distribution& dist,
                     std::string_view record, PythonEnvironment& python) {
  std::size_t count = 0;
  for_each_row(record, [&](const RecordRow& row) {
    if (count >= k_extensions_per_distribution ||
        (!row.path.ends_with(".so") && row.path.find(".so.") == std::string_view::npos) ||
        row.path.find("..") != std::string_view::npos) {
      return;
    }
    ++count;
    const auto path = join_path(site, row.path);
    if (auto needed = cuda_needs(view, path); !needed.empty()) {
      python.extensions.push_back({path, dist.name, std::move(needed)});
    }
  });
}

/// Files of CUDA's wheels: claimed twice, of another size than their owner says, or gone.
class Ownership {
public:
  void add(const std::string& owner, std::string_view record) {
    for_each_row(record, [&](const RecordRow& row) {
      if (!row.size || row.path.find(".dist-info/") != std::string_view::npos ||
          row.path.ends_with(".pyc") || row.path.find("..") != std::string_view::npos) {
        return;
      }
      files_[std::string(row.path)].emplace_back(owner, *row.size);
    });
  }
  void report(const RootView& view, const std::string& site, PythonEnvironment& python) const {
    for (const auto& [path, owners] : files_) {
      if (python.clobbers.size() >= k_clobber_limit) {
        return;
      }
      const auto entry = view.find(join_path(site, path));
      Clobber clobber{.path = join_path(site, path), .owners = {}, .state = "gone"};
      if (entry && entry->is_regular) {
        const bool all_agree = std::all_of(owners.begin(), owners.end(), [&](const auto& owner) {
          return owner.second == entry->size;
        });
        if (all_agree) {
          continue;
        }
        clobber.state = "overwritten";
      }
      for (const auto& [owner, size] : owners) {
        clobber.owners.push_back(owner);
      }
      python.clobbers.push_back(std::move(clobber));
    }
  }

private:
  std::map<std::string, std::vector<std::pair<std::string, std::uint64_t>>> files_;
};

bool is_owner_checked(std::string_view name) {
  return name.starts_with("nvidia-") || name.starts_with("nixl");
}

void scan_bundles(const RootView& view, const std::string& site, const Clues& clues,
                  PythonEnvironment& python) {
  for (const auto& bundle : clues.bundles) {
    BundledParts parts{.root = join_path(site, bundle.folder)};
    for (const auto& program : bundle.programs) {
      if (auto tool = scan_tool(view, join_path(parts.root, program))) {
        parts.tools.emplace(name_of(program), *std::move(tool));
      }
    }
    if (const auto include = join_path(parts.root, "include"); view.is_folder(include)) {
      parts.include = include;
      parts.launch_arguments = launch_arguments(view, include);
    }
    if (!parts.tools.empty() || !parts.include.empty()) {
      python.bundles.push_back(std::move(parts));
    }
  }
}

void scan_site(const RootView& view, const std::string& site, const Clues& clues,
               PythonEnvironment& python) {
  Ownership ownership;
  for (const auto& name : view.list(site)) {
    if (!name.ends_with(".dist-info")) {
      continue;
    }
    const auto path = join_path(site, name);
    auto dist = read_distribution(view, path, name, clues);
    const bool is_checked = is_owner_checked(dist.name);
    if (is_checked || !has_no_extension(dist.name, clues)) {
      if (const auto record = view.read(join_path(path, "RECORD"), k_record_bytes)) {
        if (is_checked) {
          ownership.add(dist.name, *record);
        }
        if (!has_no_extension(dist.name, clues)) {
          scan_extensions(view, site, dist, *record, python);
          const bool is_linked =
              !python.extensions.empty() && python.extensions.back().distribution == dist.name;
          if (is_linked && !concerns_cuda(dist.name, clues)) {
            read_requirements(view, clues, dist);
          }
        }
      }
    }
    python.distributions.push_back(std::move(dist));
  }
  ownership.report(view, site, python);
  const auto torch = view.head(join_path(site, "torch/version.py"), 4096);
  for (const auto line : split(torch, '\n')) {
    const auto quote = line.find('\'');
    const auto value = quote == std::string_view::npos
                           ? std::string_view()
                           : line.substr(quote + 1, line.find('\'', quote + 1) - quote - 1);
    if (line.starts_with("__version__")) {
      python.torch = value;
    } else if (line.starts_with("cuda")) {
      python.torch_cuda = value;
    }
  }
  scan_bundles(view, site, clues, python);
}

void scan_conda(const RootView& view, const Clues& clues, PythonEnvironment& python) {
  for (const auto& file : view.list(join_path(python.prefix, "conda-meta"))) {
    // cuda-nvcc-13.0.88-hcdd1206_1.json
    const auto build = file.rfind('-');
    const auto version =
        build == std::string::npos || build == 0 ? build : file.rfind('-', build - 1);
    if (!file.ends_with(".json") || version == std::string::npos) {
      continue;
    }
    const auto name = file.substr(0, version);
    if (name.starts_with("cuda-") || name.starts_with("nvcc_") || name.starts_with("libcu") ||
        name == "cudatoolkit" || name == "cuda" ||
        std::any_of(clues.conda_packages.begin(), clues.conda_packages.end(),
                    [&](const auto& pattern) { return matches(pattern, name); })) {
      python.conda_packages.emplace_back(name, file.substr(version + 1, build - version - 1));
    }
  }
}

/// The lib/python3.X folders of a prefix, with what Debian calls its own.
std::vector<std::string> site_folders(const RootView& view, const std::string& prefix) {
  std::vector<std::string> result;
  for (const char* lib : {"lib", "lib64"}) {
    const auto folder = view.find(join_path(prefix, lib));
    if (!folder || (std::string_view(lib) == "lib64" && view.is_link(join_path(prefix, lib)))) {
      continue;
    }
    for (const auto& name : view.list(folder->real)) {
      if (name.starts_with("python3")) {
        for (const char* tail : {"site-packages", "dist-packages"}) {
          const auto path = join_path(prefix, fmt::format("{}/{}/{}", lib, name, tail));
          if (view.is_folder(path)) {
            result.push_back(path);
          }
        }
      }
    }
  }
  return result;
}

class Pythons {
public:
  Pythons(const RootView& view, const Clues& clues) : view_(view), clues_(clues) {}

  void add(const std::string& prefix, const std::string& found_by, bool is_asked = false) {
    const auto entry = prefix.starts_with('/') ? view_.find(prefix) : std::nullopt;
    if (!entry || !entry->is_folder || entry->real == "/") {
      return; // /bin is /usr/bin
    }
    for (auto& known : list_) {
      if (known.prefix == entry->real) {
        known.found_by.push_back(found_by);
        return;
      }
    }
    PythonEnvironment python{.prefix = entry->real,
                             .found_by = {found_by},
                             .site_packages = site_folders(view_, entry->real),
                             .is_conda = view_.is_folder(join_path(entry->real, "conda-meta"))};
    for (const auto& site : python.site_packages) {
      scan_site(view_, site, clues_, python);
    }
    if (python.is_conda) {
      scan_conda(view_, clues_, python);
    }
    std::sort(python.distributions.begin(), python.distributions.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    // half a look would take for missing what it did not come to
    if (!view_.is_spent() && (is_asked || python.is_conda || !python.distributions.empty())) {
      list_.push_back(std::move(python));
    }
  }
  [[nodiscard]] std::vector<PythonEnvironment> take() { return std::move(list_); }

private:
  const RootView& view_;
  const Clues& clues_;
  std::vector<PythonEnvironment> list_;
};

} // namespace

std::vector<PythonEnvironment> scan_pythons(const RootView& view, const SnapshotRequest& request) {
  Pythons pythons(view, request.clues);
  const auto& environment = request.environment;
  for (const auto& prefix : request.venvs) {
    pythons.add(prefix, "--venv", true);
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto value = environment.get(name)) {
      pythons.add(*value, name);
    }
  }
  for (const auto& folder : path_folders(environment, "PATH")) {
    for (const char* name : {"python3", "python"}) {
      if (view.is_program(join_path(folder, name))) {
        pythons.add(parent_of(folder), "PATH");
        break;
      }
    }
  }
  for (const char* prefix : {"/opt/venv", "/venv", "/.venv", "/app/.venv", "/workspace/.venv",
                             "/opt/conda", "/usr/local", "/usr"}) {
    pythons.add(prefix, prefix);
  }
  if (const auto home = environment.get("HOME")) {
    pythons.add(join_path(*home, ".local"), "~/.local");
  }
  return pythons.take();
}

} // namespace cukit::survey
