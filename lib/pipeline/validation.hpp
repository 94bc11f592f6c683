// A tree's report: found under its key when the same tree, kernels, targets, host compiler, GPUs
// and driver were validated before, else made. The key is computed without loading the driver.
#pragma once

#include "pipeline/session.hpp"
#include "validate/validate.hpp"

namespace cukit::pipeline {

struct ValidationPlan {
  std::vector<GpuTarget> gpus;
  std::vector<std::string> suites;
  std::string host_compiler; ///< of the manifest; may be empty
};

/// An error of code host when no host compiler is found, with what to install; asked before
/// anything is downloaded.
Result<void> check_host_compiler(const Session& session, const ValidationPlan& plan);

Result<std::string> report_key(const Session& session, const Sha256& content,
                               const ValidationPlan& plan);
/// The stored report, unless there is none or it cannot be read.
std::optional<validate::Report> stored_report(const Session& session, const std::string& key);

/// Compiles and runs; the report is stored under its key unless `key` is empty.
Result<validate::Report> validate_tree(Session& session, const assemble::Tree& tree,
                                       const ValidationPlan& plan, const std::string& key);

} // namespace cukit::pipeline
