// The plan behind `doctor --fix`, and what of it may be done without a person.
#pragma once

#include "cli.hpp"
#include "doctor/doctor.hpp"

namespace cukit::cmd {

/// What `--fix --yes` writes into this folder, for a shell to source.
inline constexpr const char* k_variables_file = "cukit.env.sh";

/// The plan as text: numbered, each step marked with who does it. Of another machine's plan --yes
/// does nothing here.
std::string plan_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis,
                      bool is_of_this_machine);

struct Applied {
  int exit_code = 0;            ///< of `up` when it failed
  Environment environment = {}; ///< with the variables that were written
  bool has_toolkit = false;     ///< of `up`, and CUDA_HOME of the environment names it
};

/// Removes stale caches, writes the manifest as cukit.yaml and lets `cukit up` build it (passing
/// `up_options` on), writes the variables into cukit.env.sh; the files in this folder, never over
/// one of somebody else's. Of caches only the entries go that their consumer wrote, wherever its
/// variables keep them. Nothing else is touched; what is left alone is said. For the diagnosis of a
/// snapshot of this machine that was just taken.
Result<Applied> apply_plan(const Invocation& invocation, const doctor::Diagnosis& diagnosis,
                           const std::vector<std::string>& up_options);
/// Whether the plan has a step of --yes for this finding.
bool is_mended_by_plan(const doctor::Finding& finding);

} // namespace cukit::cmd
