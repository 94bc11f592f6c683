#include "survey/snapshot.hpp"

#include "base/strings.hpp"
#include "machine/machine.hpp"
#include "survey/loader.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <array>

namespace cukit::survey {

namespace {

constexpr std::size_t k_toolkits = 256;
constexpr std::size_t k_aliases = 64;

/// Whether a variable concerns CUDA or building, and has nothing of a secret in its name.
bool is_kept(std::string_view name, const Clues& clues) {
  static constexpr std::array exact = {
      "PATH",       "HOME",    "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH",    "C_INCLUDE_PATH",
      "CC",         "CXX",     "VIRTUAL_ENV",     "CONDA_PREFIX", "MAX_JOBS", "CPLUS_INCLUDE_PATH",
      "LD_PRELOAD", "LDFLAGS", "CFLAGS",          "CXXFLAGS",     "CPPFLAGS", "PKG_CONFIG_PATH",
      "LD_RUN_PATH"};
  static constexpr std::array prefixes = {"CUDA",    "NVCC",     "NVHPC",         "CMAKE_",
                                          "CCACHE_", "SCCACHE_", "NVIDIA_VISIBLE"};
  static constexpr std::array secrets = {"TOKEN", "KEY", "SECRET", "PASS", "AUTH", "CREDENTIAL"};
  const bool is_secret = std::any_of(secrets.begin(), secrets.end(), [&](const char* word) {
    return name.find(word) != std::string_view::npos;
  });
  return !is_secret && (std::find(exact.begin(), exact.end(), name) != exact.end() ||
                        std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](const char* prefix) { return name.starts_with(prefix); }) ||
                        std::any_of(clues.variables.begin(), clues.variables.end(),
                                    [&](const auto& one) { return matches(one, name); }));
}

/// The same tree reached in several ways is one toolkit.
void add_toolkit(Snapshot& snapshot, const RootView& view, const Candidate& candidate) {
  const auto entry = view.find(candidate.root);
  if (!entry) {
    return;
  }
  for (auto& known : snapshot.toolkits) {
    if (known.real == entry->real) {
      if (known.environment.empty()) {
        known.environment = candidate.environment;
      }
      if (candidate.root != known.root && candidate.root != known.real &&
          known.aliases.size() < k_aliases &&
          std::find(known.aliases.begin(), known.aliases.end(), candidate.root) ==
              known.aliases.end()) {
        known.aliases.push_back(candidate.root);
      }
      if (std::find(known.found_by.begin(), known.found_by.end(), candidate.found_by) ==
          known.found_by.end()) {
        known.found_by.push_back(candidate.found_by);
      }
      return;
    }
  }
  if (snapshot.toolkits.size() >= k_toolkits) {
    return;
  }
  // half a look would take for missing what it did not come to
  if (auto kit = scan_toolkit(view, candidate); kit && !view.is_spent()) {
    snapshot.toolkits.push_back(*std::move(kit));
  }
}

/// Limits that were reached.
void note_limits(Snapshot& snapshot, const RootView& view, const SnapshotRequest& request) {
  if (view.is_spent()) {
    snapshot.notes.push_back(
        fmt::format("after {} or {} s the rest of the folders was not looked at",
                    human_bytes(request.byte_budget),
                    std::chrono::duration_cast<std::chrono::seconds>(request.time_budget).count()));
  }
  if (snapshot.toolkits.size() >= k_toolkits) {
    snapshot.notes.push_back(
        fmt::format("the first {} toolkits were looked at, and no more", k_toolkits));
  }
  for (const auto& [name, value] : request.environment.values()) {
    const auto folders = static_cast<std::size_t>(std::count(value.begin(), value.end(), ':')) + 1;
    if (name.ends_with("PATH") && folders > k_path_folders) {
      snapshot.notes.push_back(
          fmt::format("{} has {} folders, of which the first {} were looked at", name, folders,
                      k_path_folders));
    }
  }
}

/// Which wheels a tree of wheels is made of.
void add_owners(Snapshot& snapshot) {
  for (auto& kit : snapshot.toolkits) {
    if (std::find(kit.found_by.begin(), kit.found_by.end(), "wheels") == kit.found_by.end()) {
      continue;
    }
    for (const auto& python : snapshot.pythons) {
      if (python.prefix == kit.environment) {
        for (const auto& dist : python.distributions) {
          if (dist.name.starts_with("nvidia-")) {
            kit.owners.emplace(dist.name, dist.version);
          }
        }
      }
    }
  }
}

/// Whoever builds in an image is its user 0 unless something else is said.
std::string home_of_user_0(const RootView& view) {
  const auto accounts = view.head("/etc/passwd", 64U << 10U);
  for (const auto line : split(accounts, '\n')) {
    const auto fields = split(line, ':'); // passwd(5)
    if (fields.size() == 7 && fields[2] == "0" && fields[5].starts_with('/')) {
      return std::string(fields[5]);
    }
  }
  return "/";
}

/// Anything that says that a driver is here: loading one for nothing takes most of a second.
bool may_have_a_gpu(const RootView& view, const Snapshot& snapshot,
                    const Environment& environment) {
  if (!snapshot.gpus.empty() || !snapshot.driver.empty()) {
    return true;
  }
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"}) {
    if (view.find(node)) {
      return true;
    }
  }
  return !environment.find_program("nvidia-smi").empty();
}

void take_gpus(Snapshot& snapshot, const std::vector<machine::Gpu>& gpus, const char* found_by) {
  snapshot.gpus.clear();
  for (const auto& gpu : gpus) {
    snapshot.gpus.push_back(
        {.name = gpu.name, .target = gpu.target.major > 0 ? gpu.target.sm() : std::string()});
  }
  snapshot.gpus_found_by = found_by;
}

/// libcuda, then NVML; the names in /proc stay where neither answers, and without them nvidia-smi
/// is asked.
void ask_devices(Snapshot& snapshot, const Environment& environment, const std::stop_token& stop) {
  auto found = machine::devices(stop);
  if (!found.gpus.empty()) {
    take_gpus(snapshot, found.gpus, "libcuda");
  } else {
    snapshot.gpus_why = found.why_none;
    if (found.seen.empty() && snapshot.gpus.empty()) {
      const auto said = machine::ask_nvidia_smi(environment, stop);
      take_gpus(snapshot, said.seen, said.seen.empty() ? "" : "nvidia-smi");
      found.driver = found.driver ? found.driver : said.driver;
    } else if (!found.seen.empty()) {
      take_gpus(snapshot, found.seen, "NVML");
    }
  }
  if (found.driver && found.driver->cuda) {
    snapshot.driver_cuda = found.driver->cuda->major_minor();
  }
  if (found.driver && snapshot.driver.empty() && found.driver->version.major() > 0) {
    snapshot.driver = machine::driver_text(found.driver->version);
  }
}

} // namespace

bool matches(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

Snapshot take_snapshot(const SnapshotRequest& asked, const std::stop_token& stop) {
  const RootView view(asked.root,
                      {.bytes = asked.byte_budget, .time = asked.time_budget, .stop = stop});
  auto request = asked;
  if (!request.environment.get("HOME")) {
    request.environment.set("HOME", home_of_user_0(view));
  }
  Snapshot snapshot;
  snapshot.root = view.is_live() ? "/" : "(a root folder)";
  snapshot.platform = Platform::host().text();
  for (const auto& [name, value] : request.environment.values()) {
    if (is_kept(name, request.clues)) {
      snapshot.environment.emplace(name, value);
    }
  }
  scan_system(view, snapshot);
  if (!snapshot.gpus.empty()) {
    snapshot.gpus_found_by = "/proc";
  }
  // under a root nothing is asked: the driver is this machine's, and nvidia-smi would be executed
  if (view.is_live() && request.ask_devices &&
      may_have_a_gpu(view, snapshot, request.environment)) {
    ask_devices(snapshot, request.environment, stop);
  }
  const Loader loader(view, request.environment);
  scan_driver(view, request.environment, loader, snapshot);
  snapshot.pythons = scan_pythons(view, request);
  for (auto& python : snapshot.pythons) {
    simulate_loading(view, loader, python);
  }
  auto candidates = toolkit_candidates(view, request, snapshot.pythons);
  for (const auto& root : request.toolkits) {
    candidates.push_back({.root = root, .found_by = "as asked for"});
  }
  for (const auto& candidate : candidates) {
    add_toolkit(snapshot, view, candidate);
  }
  add_owners(snapshot);
  snapshot.compilers = scan_compilers(view, request.environment);
  for (const auto& folder : path_folders(request.environment, "PATH")) {
    for (const auto& [name, list] : {std::pair{"nvcc", &snapshot.path_nvcc},
                                     {"ptxas", &snapshot.path_ptxas},
                                     {"ccache", &snapshot.compiler_caches},
                                     {"sccache", &snapshot.compiler_caches}}) {
      if (view.is_program(join_path(folder, name))) {
        list->push_back(join_path(folder, name));
      }
    }
  }
  snapshot.library_path = scan_library_path(view, request.environment);
  snapshot.system_libraries = scan_system_libraries(view, loader);
  snapshot.caches = scan_caches(view, request);
  snapshot.found_headers = find_headers(view, request.environment, request.headers, snapshot);
  snapshot.memory_mb = memory_of(view);
  note_limits(snapshot, view, request);
  return snapshot;
}

const Toolkit* toolkit_of(const Snapshot& snapshot, std::string_view path) {
  const Toolkit* best = nullptr;
  std::size_t length = 0;
  for (const auto& kit : snapshot.toolkits) {
    const auto consider = [&](const std::string& root) {
      if ((path == root || path.starts_with(root == "/" ? root : root + "/")) &&
          root.size() > length) {
        best = &kit;
        length = root.size();
      }
    };
    consider(kit.root);
    consider(kit.real);
    std::for_each(kit.aliases.begin(), kit.aliases.end(), consider);
  }
  return best;
}

bool is_root_of(const Toolkit& kit, std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path == kit.root || path == kit.real ||
         std::find(kit.aliases.begin(), kit.aliases.end(), path) != kit.aliases.end();
}

const Distribution* find_distribution(const PythonEnvironment& python, std::string_view name) {
  const auto found = std::find_if(python.distributions.begin(), python.distributions.end(),
                                  [&](const auto& dist) { return dist.name == name; });
  return found == python.distributions.end() ? nullptr : &*found;
}

} // namespace cukit::survey
