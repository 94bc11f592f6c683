// `lock --upgrade=COMPONENT`: which choices of the earlier lock the next one may still see.
#pragma once

#include "knowledge/knowledge.hpp"
#include "lock/lock.hpp"

namespace cukit::pipeline {

/// Without components nothing is kept. `cuda`, and every component whose version is the release's,
/// lets the release go; `ptxas` the part that stands in for nvcc's own; any other component its own
/// choice alone. A name that is neither a component nor in the lock is an error of code usage.
Result<std::optional<lock::Lock>> kept_choices(const std::optional<lock::Lock>& earlier,
                                               const std::vector<std::string>& components,
                                               const knowledge::Knowledge& knowledge);

/// The component in whose artifact the lock has `name`, which has none of its own there (ptxas in
/// nvcc's, unless the manifest asked for a newer one); else empty.
std::string comes_with(const lock::Lock& lock, const std::string& name,
                       const std::vector<knowledge::Component>& recipes);

} // namespace cukit::pipeline
