// Tree + kernels -> Report. Each kernel is compiled for each target in an environment built from
// nothing, the SASS in the result is checked to be for that target, and the program is run, in a
// process of its own with a time limit, on every GPU that can run it. Skipping is never a pass.
#pragma once

#include "assemble/assemble.hpp"
#include "knowledge/knowledge.hpp"
#include "machine/machine.hpp"
#include "text/json.hpp"

#include <optional>

namespace cukit::validate {

enum class State { passed, failed, not_run, not_applicable };
std::string_view state_text(State state);

struct Expected {
  double value = 0;
  double tolerance = 0; ///< absolute
};

/// recipes/kernels/NAME/kernel.yaml
struct Kernel {
  std::string name;
  std::string summary;
  std::vector<std::string> suites;
  std::vector<std::string> files;   ///< every file beside kernel.yaml, also headers
  std::vector<std::string> sources; ///< those of them that nvcc is given
  std::vector<std::string> flags;   ///< for nvcc, in order
  std::vector<std::string> needs;   ///< components that must be in the tree: else not_applicable
  std::string targets; ///< "plain" (sm_90), "specific" (90a, 120f: the richest form of each GPU)
  std::vector<std::string> only; ///< plain targets it is for ("sm_90"), empty: all
  std::vector<std::string>
      libraries; ///< tree files its program loads, a * at the end: lib/libcudart.so.*
  bool emits =
      false; ///< `program --emit FILE` writes the cubin that the program makes when it runs
  std::map<std::string, Expected> numbers;
};
/// Kernels of any of the suites (empty: all), by name. A suite that no kernel is in is an error.
Result<std::vector<Kernel>> load_kernels(const knowledge::Knowledge& knowledge,
                                         const std::vector<std::string>& suites);

struct BuildResult {
  std::string kernel;
  std::string target;
  State state = State::not_run;
  std::string reason;
  double seconds = 0;
};

struct RunResult {
  std::string kernel;
  std::string target;
  std::string gpu; ///< "0: NVIDIA H200", or empty when there is none
  std::string gpu_uuid = {};
  State state = State::not_run;
  std::string reason;
  std::map<std::string, double> numbers;
};

struct Report {
  std::string tree_content; ///< digest
  std::string release;
  std::string host_compiler;
  std::string driver;
  std::vector<std::string> gpus;
  std::vector<std::string> gpu_uuids; ///< of the same, in the same order
  std::vector<BuildResult> builds;
  std::vector<RunResult> runs;
  [[nodiscard]] int count(State state) const; ///< over builds and runs
  [[nodiscard]] bool has_failure() const { return count(State::failed) > 0; }
  /// Every program that was built and is for that GPU was run on it.
  [[nodiscard]] bool covers(const machine::Gpu& gpu) const;
  [[nodiscard]] text::Json json() const; ///< cukit.validate/1
  static Result<Report> from_json(const text::Json& json);
};

struct BuildOptions {
  std::vector<GpuTarget> gpus;
  std::vector<std::string> suites;
  Environment environment;   ///< to find the host compiler; nothing else of it reaches nvcc
  std::string host_compiler; ///< from the manifest; may be empty
  unsigned jobs = 0;         ///< 0: one per processor
};

/// Compiles everything into `out` (created; one that holds an earlier bundle is emptied, another
/// one that is not empty is refused): programs, the shared libraries they need with $ORIGIN, and
/// bundle.json with digests, so that run() needs nothing but the folder and a driver. A kernel that
/// does not build is a result, not an error.
Result<Report> build(const assemble::Tree& tree, const knowledge::Knowledge& knowledge,
                     const BuildOptions& options, const fs::path& out, Progress& progress,
                     const std::stop_token& stop);

/// Runs the programs of a folder that build() made on every GPU of this machine; the report holds
/// the builds as bundle.json has them, and the runs. No GPU, or none that a target is for: not_run,
/// with the reason. A folder whose files are not the ones bundle.json names is an error of code
/// integrity.
Result<Report> run(const fs::path& folder, const machine::Devices& devices, Progress& progress,
                   const std::stop_token& stop);

/// The SASS target that a cubin says it was made for, from the command line in its .note.nv.tkinfo:
/// sm_90a, sm_120f. Of a linked cubin it is the linker's, not that of its inputs.
Result<std::string> sass_target(std::string_view cubin);

} // namespace cukit::validate
