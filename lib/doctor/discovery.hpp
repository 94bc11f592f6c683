// Simulated discovery: what each consumer would find, by the steps of its recipe. Private to
// doctor.
#pragma once

#include "doctor/doctor.hpp"

namespace cukit::doctor {

/// The consumers that are there (or asked for), each with what it would take.
std::vector<Found> discover(const survey::Snapshot& snapshot, const Question& question,
                            const std::vector<knowledge::Consumer>& consumers);

/// The toolkit whose parts a program really uses: a wrapper's target, the tree above the real file,
/// or, for a linked file that lost its nvcc.profile, none but its own folder.
const survey::Toolkit* compiler_of(const survey::Snapshot& snapshot, const survey::Tool& nvcc);
/// A program by its path, in any toolkit.
const survey::Tool* tool_at(const survey::Snapshot& snapshot, std::string_view path);
/// The parts of a toolkit that a consumer's own wheel brings there; nullptr: none.
const survey::BundledParts* bundle_of(const survey::PythonEnvironment* python,
                                      const knowledge::Consumer& consumer);
std::string variable(const survey::Snapshot& snapshot, std::string_view name);
/// Nothing of what is no version.
std::optional<Version> known_version(std::string_view text);

} // namespace cukit::doctor
