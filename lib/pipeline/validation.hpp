// A tree's report: found under its key when the same tree, kernels, targets, host compiler, C
// library, driver and GPUs were validated before, else made. The key is computed without loading
// the driver.
#pragma once

#include "machine/quick_gpus.hpp"
#include "pipeline/session.hpp"
#include "validate/validate.hpp"

#include <functional>

namespace cukit::pipeline {

struct ValidationPlan {
  std::vector<GpuTarget> gpus;
  std::vector<std::string> suites;
  std::string host_compiler; ///< of the manifest; may be empty
};

/// An error of code host when no host compiler is found, with what to install; asked before
/// anything is downloaded.
Result<void> check_host_compiler(const Session& session, const ValidationPlan& plan);

/// The GPUs and driver that this process may use; asks the driver, in a child process.
using AskDevices = std::function<machine::Devices()>;

/// What a result rests on besides the tree and the kernels. Of two machines with one home they
/// differ wherever a GPU does.
struct Surroundings {
  std::optional<Version> driver; ///< of the kernel module
  machine::QuickGpus gpus;
  std::string host_compiler;  ///< machine::host_compiler_identity()
  std::string driver_library; ///< a libcuda from LD_LIBRARY_PATH that is not the kernel module's
  Version glibc;
};
/// Runs nothing, but for `ask` where the kernel module does not know a GPU's UUID yet.
Surroundings surroundings(const Environment& environment, const ValidationPlan& plan,
                          const AskDevices& ask, const fs::path& root = "/");

Result<std::string> report_key(const knowledge::Knowledge& knowledge, const Sha256& content,
                               const ValidationPlan& plan, const Surroundings& around);

/// Whether nothing is left to do: no failure, and what a GPU here could run was run. One that ran
/// nothing, because no GPU was visible, does not hold where one is. `ask` is called only when the
/// report leaves out a GPU that the quick look shows.
bool holds(const validate::Report& report, const machine::QuickGpus& here, const AskDevices& ask);

/// The report that holds here for a tree of that content, or the key under which it is to be
/// stored.
struct Known {
  std::string key;
  std::optional<validate::Report> report;
};
Result<Known> known_report(const Session& session, const Sha256& content,
                           const ValidationPlan& plan);

/// Compiles and runs; the report is stored under its key unless `key` is empty.
Result<validate::Report> validate_tree(Session& session, const assemble::Tree& tree,
                                       const ValidationPlan& plan, const std::string& key);

} // namespace cukit::pipeline
