// The plan behind `doctor --fix`, and what of it may be done without a person.
#pragma once

#include "cli.hpp"
#include "doctor/doctor.hpp"

namespace cukit::cmd {

/// The plan as text: numbered, each step marked with who does it.
std::string plan_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis);

/// Removes stale caches below `home` and writes the manifest as cukit.yaml in this folder (never
/// over an existing one). Nothing else is touched; what is left is said. Gives the file written, or
/// an empty path.
Result<fs::path> apply_plan(const doctor::Diagnosis& diagnosis, const fs::path& home);

} // namespace cukit::cmd
