// Single changes of a manifest that make it solvable, found by trying them.
#pragma once

#include "resolve/conflict.hpp"

namespace cukit::resolve {

/// Nearest first: changed values before things left out, small changes before large ones. `set` is
/// the minimal conflict.
Result<std::vector<WayOut>> ways_out(const manifest::Manifest& manifest, const Facts& facts,
                                     const Problem& problem, const std::vector<std::size_t>& set,
                                     const Matrix& matrix,
                                     const std::vector<Candidate>& candidates);

} // namespace cukit::resolve
