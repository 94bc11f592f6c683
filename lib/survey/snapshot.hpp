// Everything that decides how CUDA code is built and run on a machine, as facts: toolkits, Python
// environments, host compilers, driver, caches, variables. Taken of `/` or of any folder as if it
// were `/`; nothing is executed and nothing is written. What could not be found out is empty.
// Versions are text ("13.0.88", "13.0" where a header says no more), so that "unknown" has a place;
// paths are those inside the root.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"
#include "survey/clues.hpp"
#include "text/json.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace cukit::survey {

/// A program of a toolkit.
struct Tool {
  std::string path = {};    ///< as it was reached
  std::string real = {};    ///< without links
  std::string version = {}; ///< from its read-only data, or from the text of a script
  std::string wraps = {};   ///< the program that a script passes on to
  bool is_link = false;
};

/// One tree with an nvcc, a ptxas, CUDA headers or CUDA libraries.
struct Toolkit {
  std::string root = {}; ///< as it was reached first
  std::string real = {};
  std::vector<std::string> aliases = {};  ///< further ways by which it was reached
  std::vector<std::string> found_by = {}; ///< CUDA_HOME, PATH, /usr/local/cuda, wheels, conda ...
  std::string environment = {};           ///< prefix of the Python environment that it is part of
  std::map<std::string, Tool> tools = {}; ///< nvcc, cicc, ptxas, nvlink, fatbinary, cudafe++ ...
  std::string profile = {};               ///< nvcc.profile: "target" (lib64 or targets/), "lib", ""
  bool has_profile_beside_nvcc = false;   ///< beside the path by which nvcc was reached
  std::string include = {};               ///< the folder that holds cuda_runtime_api.h or cuda.h
  std::string cudart = {};                ///< CUDART_VERSION: 13.0
  std::string cuda_h = {};                ///< CUDA_VERSION
  std::set<std::string> headers = {}; ///< of those that a consumer may want, the ones that are here
  std::string cccl = {};              ///< CCCL_VERSION: 3.0.1; of CUB before there was one
  std::string cccl_include = {};      ///< the folder that holds cuda/std
  std::string cccl_outer = {};     ///< of a second copy directly in include/, beside include/cccl
  std::string nv_target_cccl = {}; ///< "same", "differs" (include/nv and include/cccl/nv), ""
  std::map<std::string, std::string> cmake_packages = {}; ///< cccl, cub, thrust -> version
  int launch_arguments = 0; ///< of __cudaLaunch in crt/host_runtime.h; 0: not here
  int gcc_max = 0;          ///< crt/host_config.h; 0: not known
  int clang_below = 0;
  bool cospi_is_ready = true; ///< crt/math_functions.h agrees with a C library that has cospi
  bool rsqrt_is_ready = true;
  std::vector<std::string> library_folders =
      {}; ///< below the root: lib, lib64, targets/x86_64-linux/lib
  std::map<std::string, std::string> libraries = {}; ///< file name -> path
  std::string nvjitlink = {};                        ///< newest symbol version of libnvJitLink
  std::string libdevice = {};                        ///< path of libdevice.10.bc
  std::string release = {};                          ///< version.json or version.txt
  std::string tree_id = {};                          ///< of a tree that cukit made
  std::map<std::string, std::string> owners = {}; ///< dist of a wheel -> version: nvidia-cuda-nvcc
};

struct Distribution {
  std::string name = {}; ///< normalised: nvidia-cuda-nvcc
  std::string version = {};
  std::string path = {};                      ///< of the .dist-info folder
  std::vector<std::string> requirements = {}; ///< Requires-Dist that concern CUDA
};

struct Extension {
  std::string path = {}; ///< a shared library outside of CUDA's own wheels
  std::string distribution = {};
  std::vector<std::string> needed = {}; ///< CUDA's libraries among DT_NEEDED
};

/// A file that two wheels say is theirs, or that is not as its wheel brought it.
struct Clobber {
  std::string path = {};
  std::vector<std::string> owners = {};
  std::string state = {}; ///< "overwritten" (size differs from an owner's RECORD) or "gone"
};

/// A library of an environment that does not load as it should: it is not found, or what the loader
/// takes lacks what is wanted of it. Results only: no symbol table is kept.
struct LoadProblem {
  std::string object = {};       ///< who wants it
  std::string distribution = {}; ///< whose object that is; empty: not known
  std::string library = {};      ///< libnvJitLink.so.12
  std::string taken = {};        ///< what the loader takes, without links; empty: nothing is found
  std::string led_by = {};       ///< LD_LIBRARY_PATH, /etc/ld.so.conf.d/x.conf, RPATH of FILE ...
  std::string own = {};          ///< the environment's own library of that name; empty: it has none
  std::vector<std::string> missing = {}; ///< symbols that are wanted and not there, the first few
  bool own_has_them = false;             ///< the environment's own library has what is missing
};

/// A libcuda.so.1 that the loader could take.
struct DriverLibrary {
  std::string path = {};    ///< as it was found
  std::string real = {};    ///< without links
  std::string version = {}; ///< 580.105.08, as its name says; empty: not known
  std::string led_by = {};  ///< LD_LIBRARY_PATH, /etc/ld.so.conf.d/x.conf, the loader's own folders
};

/// Parts of a toolkit inside a consumer's own wheel.
struct BundledParts {
  std::string root = {};
  std::map<std::string, Tool> tools = {}; ///< by file name
  std::string include = {};               ///< empty: it brings no headers
  int launch_arguments = 0;               ///< of __cudaLaunch in its crt; 0: not here
};

struct PythonEnvironment {
  std::string prefix = {};
  std::vector<std::string> found_by = {};
  std::vector<std::string> site_packages = {};
  bool is_conda = false;
  std::vector<Distribution> distributions = {}; ///< by name
  std::string torch = {};                       ///< 2.11.0+cu130
  std::string torch_cuda = {};                  ///< 13.0
  std::vector<BundledParts> bundles = {};
  std::vector<Extension> extensions = {};
  std::vector<Clobber> clobbers = {};
  std::vector<LoadProblem> load_problems = {};
  std::vector<std::pair<std::string, std::string>> conda_packages =
      {}; ///< CUDA's, name and version
};

struct HostCompiler {
  std::string path = {};
  std::string real = {};
  std::string kind = {}; ///< gcc or clang
  std::string version = {};
};

/// A folder with compiled kernels.
struct CacheEntry {
  std::string consumer = {}; ///< of its recipe
  std::string path = {};
  std::string cuda_home = {}; ///< as its build.ninja says
  std::string nvcc = {};
  std::vector<std::string> needed = {}; ///< CUDA's libraries that its .so wants
  std::string built_by = {};            ///< as its kernels say: "PTX 9.0" or "CUDA 13.0.88"
  bool is_generated =
      false; ///< all of it is what the consumer's build writes: it can go as a whole
};

/// A folder of LD_LIBRARY_PATH, with the CUDA libraries in it.
struct LibraryFolder {
  std::string path = {};
  std::map<std::string, std::string> libraries = {}; ///< name -> real path
  std::string nvjitlink = {};                        ///< newest symbol version
};

/// A header that was asked for, and where it is.
struct FoundHeader {
  std::string name = {};
  std::vector<std::string> paths = {};
  std::string named_by = {}; ///< the variable that led to the first; empty: none did
};

struct SnapshotGpu {
  std::string name = {};
  std::string target = {}; ///< sm_90; empty when only the name is known
};

struct Snapshot {
  std::string root = {}; ///< "/" for a live machine
  std::string platform = {};
  std::string os = {};                  ///< PRETTY_NAME
  std::vector<std::string> os_ids = {}; ///< ID, then those of ID_LIKE: ubuntu debian
  std::string glibc = {};
  bool libm_has_cospi = false;    ///< the C library's headers declare it (glibc 2.41)
  bool libm_has_rsqrt = false;    ///< (glibc 2.42)
  std::string driver = {};        ///< 580.159.04
  std::string driver_cuda = {};   ///< 13.0, where the driver itself was asked
  std::string kernel_module = {}; ///< version of the nvidia module that is loaded; empty: none seen
  /// In the loader's order: the first is the one that programs get.
  std::vector<DriverLibrary> driver_libraries = {};
  std::vector<SnapshotGpu> gpus = {};
  std::string gpus_found_by = {}; ///< libcuda, NVML, /proc or nvidia-smi; empty: no GPU is known
  std::string gpus_why = {};      ///< why it was not libcuda, in the driver's own words
  std::map<std::string, std::string> environment = {}; ///< only what concerns CUDA and building
  std::vector<Toolkit> toolkits = {};
  std::vector<PythonEnvironment> pythons = {};
  std::vector<HostCompiler> compilers = {}; ///< in PATH's order
  std::vector<std::string> path_nvcc = {};  ///< every nvcc in PATH
  std::vector<std::string> path_ptxas = {};
  std::vector<std::string> compiler_caches = {}; ///< ccache and sccache in PATH
  std::vector<LibraryFolder> library_path = {};
  std::map<std::string, std::string> system_libraries = {}; ///< CUDA's on the loader's own path
  std::vector<CacheEntry> caches = {};
  /// Headers that were asked for: where they are, in the folders that variables, toolkits, wheels
  /// and the system have for headers.
  std::vector<FoundHeader> found_headers = {};
  int memory_mb = 0;                   ///< of the machine; 0: not known
  std::vector<std::string> notes = {}; ///< what was left out and why
};

struct SnapshotRequest {
  fs::path root = "/";
  Environment environment;
  std::vector<std::string> venvs = {};    ///< further Python environments
  std::vector<std::string> toolkits = {}; ///< further toolkit roots
  std::vector<std::string> headers = {};  ///< to be looked for: what a log misses
  Clues clues = {};
  bool ask_devices = true; ///< live only: let a child process ask the driver when a GPU is there
  /// What a look may cost: bytes read and names looked up, and time. What was not looked at for
  /// that is said in Snapshot::notes.
  std::uint64_t byte_budget = 8'000'000'000;
  std::chrono::milliseconds time_budget = std::chrono::seconds(30);
};

Snapshot take_snapshot(const SnapshotRequest& request, const std::stop_token& stop = {});

/// schema cukit.snapshot/1. Names of users and their home folders are replaced; of the variables
/// those parts alone are written that are known to say how CUDA is built.
text::Json to_json(const Snapshot& snapshot);
/// Unknown keys are passed over, so that a newer cukit's snapshot can be read; values of another
/// kind are an error (code usage).
Result<Snapshot> snapshot_from_json(const text::Json& json, const std::string& name);

/// The toolkit that holds this path (nvcc, a header), or nullptr.
const Toolkit* toolkit_of(const Snapshot& snapshot, std::string_view path);
/// Whether the path is the toolkit's root itself, by any of its names.
bool is_root_of(const Toolkit& kit, std::string_view path);
const Distribution* find_distribution(const PythonEnvironment& python, std::string_view name);

} // namespace cukit::survey
