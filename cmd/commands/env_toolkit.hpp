// The variables of a toolkit as `cukit env` and `cukit run` give them: what the name, the manifest
// and the last validation say goes in.
#pragma once

#include "cli.hpp"
#include "exports/environment.hpp"

namespace cukit::cmd {

struct EnvironmentWish {
  std::string toolkit;
  std::vector<std::string> gpus = {};      ///< instead of the toolkit's own
  std::vector<std::string> consumers = {}; ///< these alone; empty: all
  std::string venv = {}; ///< says which versions are installed; empty: the manifest's or the active
};

/// A toolkit's variables, with the hold on its tree.
struct ToolkitVariables {
  assemble::Tree tree;
  exports::ToolkitEnvironment environment;
  std::vector<GpuTarget> gpus;
  std::string host_compiler;                ///< that nvcc must be given; empty: it takes its own
  std::vector<std::string> notes;           ///< what the caller should know; for standard error
  std::vector<std::string> notes_on_caller; ///< of variables that lead into another toolkit
};
Result<ToolkitVariables> toolkit_variables(const Invocation& invocation,
                                           const EnvironmentWish& wish);

/// On standard error, unless it is to be quiet.
void say_notes(const Invocation& invocation, const std::vector<std::string>& notes);

} // namespace cukit::cmd
