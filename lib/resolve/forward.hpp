// A driver that is too old, kept: the cuda-compat package where it is supported.
#pragma once

#include "resolve/problem.hpp"
#include "resolve/toolkit.hpp"

namespace cukit::resolve {

/// What to change and how, for a toolkit that everything but the driver allows; empty where some
/// GPU is not eligible.
Result<std::optional<WayOut>> forward_way(const manifest::Manifest& manifest, const Facts& facts,
                                          const Problem& problem, const Toolkit& toolkit);

} // namespace cukit::resolve
