// The plan behind `doctor --fix`, and what of it may be done without a person.
#pragma once

#include "cli.hpp"
#include "doctor/doctor.hpp"

namespace cukit::cmd {

/// What `--fix --yes` writes into this folder, for a shell to source.
inline constexpr const char* k_variables_file = "cukit.env.sh";

/// The plan as text: numbered, each step marked with who does it.
std::string plan_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis);

/// Removes stale caches below HOME, writes the manifest as cukit.yaml and lets `cukit up` build it
/// (passing `up_options` on), writes the variables into cukit.env.sh; all of it in this folder,
/// never over a file of somebody else's. Nothing else is touched; what is left is said. The exit
/// code is that of `up` when it failed.
int apply_plan(Invocation& invocation, const doctor::Diagnosis& diagnosis,
               const std::vector<std::string>& up_options);

} // namespace cukit::cmd
