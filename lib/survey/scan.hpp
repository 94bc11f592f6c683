// The parts of take_snapshot(), each of which looks at one kind of thing. Of other modules venv
// alone uses one, scan_toolkit().
#pragma once

#include "survey/root_view.hpp"
#include "survey/snapshot.hpp"

namespace cukit::survey {

class Loader;

/// A place where a toolkit may be, and what led there.
struct Candidate {
  std::string root;
  std::string found_by;
  std::string environment = {};
  bool reads_programs = true; ///< else versions of programs stay empty: compilers have 100 MB
};

/// Looks at one root; nothing when no toolkit is there.
std::optional<Toolkit> scan_toolkit(const RootView& view, const Candidate& candidate);
/// Everything a consumer could reach: variables, PATH, the usual folders, wheels, conda, Spack,
/// Nix.
std::vector<Candidate> toolkit_candidates(const RootView& view, const SnapshotRequest& request,
                                          const std::vector<PythonEnvironment>& pythons);
/// A program with its version; nothing when the path leads to no file.
std::optional<Tool> scan_tool(const RootView& view, const std::string& path,
                              bool reads_version = true);
/// Arguments of __cudaLaunch in the crt/host_runtime.h below an include folder; 0 without.
int launch_arguments(const RootView& view, const std::string& include);

std::vector<PythonEnvironment> scan_pythons(const RootView& view, const SnapshotRequest& request);
std::vector<HostCompiler> scan_compilers(const RootView& view, const Environment& environment);
std::vector<CacheEntry> scan_caches(const RootView& view, const SnapshotRequest& request);
/// Where the headers of these names are; those that are nowhere are left out.
std::vector<FoundHeader> find_headers(const RootView& view, const Environment& environment,
                                      const std::vector<std::string>& names,
                                      const Snapshot& snapshot);
int memory_of(const RootView& view); ///< MemTotal in MB; 0: not known
std::vector<LibraryFolder> scan_library_path(const RootView& view, const Environment& environment);
/// CUDA's libraries in the folders of the loader: name -> path.
std::map<std::string, std::string> scan_system_libraries(const RootView& view,
                                                         const Loader& loader);
/// What of an environment would not load; `python` is scanned already.
void simulate_loading(const RootView& view, const Loader& loader, PythonEnvironment& python);
/// Which libcuda programs get, and the version of the kernel module.
void scan_driver(const RootView& view, const Environment& environment, const Loader& loader,
                 Snapshot& snapshot);
/// glibc, libm, os: facts of the system itself.
void scan_system(const RootView& view, Snapshot& snapshot);

/// Whether a library or DT_NEEDED name is one of CUDA's: libcudart.so.13, libnvrtc.so.13 ...
bool is_cuda_library(std::string_view name);
/// Folders of a PATH-like variable that are looked at; the longest real PATH has some sixty.
inline constexpr std::size_t k_path_folders = 4096;
/// Absolute folders of a PATH-like variable, in order, each once.
std::vector<std::string> path_folders(const Environment& environment, const std::string& name);

} // namespace cukit::survey
