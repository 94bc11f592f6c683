// Simulated discovery: what each consumer would find, by the steps of its recipe. Private to
// doctor.
#pragma once

#include "doctor/doctor.hpp"

namespace cukit::doctor {

/// The consumers that are there (or asked for), each with what it would take.
std::vector<Found> discover(const host::Snapshot& snapshot, const Question& question,
                            const std::vector<knowledge::Consumer>& consumers);

/// The toolkit whose parts a program really uses: a wrapper's target, the tree above the real file,
/// or, for a linked file that lost its nvcc.profile, none but its own folder.
const host::Toolkit* compiler_of(const host::Snapshot& snapshot, const host::Tool& nvcc);
/// A program by its path, in any toolkit.
const host::Tool* tool_at(const host::Snapshot& snapshot, std::string_view path);
std::string variable(const host::Snapshot& snapshot, std::string_view name);

} // namespace cukit::doctor
