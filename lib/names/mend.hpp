// What a power cut may leave of a name where durability was left to the kernel: a generation whose
// files are empty, and `current` leading to it.
#pragma once

#include "store/layout.hpp"

namespace cukit::names {

/// Drops such generations, and the `current` that leads to one: the next `up` makes a new one. How
/// many were dropped.
Result<int> drop_cut_off(const store::Home& home);

} // namespace cukit::names
