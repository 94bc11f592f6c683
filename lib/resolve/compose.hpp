// The chosen toolkit as a lock: one artifact per component and platform, the part that a newer
// ptxas gives, digests and pins.
#pragma once

#include "resolve/search.hpp"

namespace cukit::resolve {

struct Inputs {
  const manifest::Manifest& manifest;
  const Facts& facts;
  const Problem& problem;
  const Offer& offer;
  const lock::Lock* earlier;
  bool is_gpu_assumed = false; ///< what stands for `native` was said on the command line
  bool is_driver_assumed = false;
};

/// Lock, choices with their reasons, and what is still to be read of ranged artifacts. Notes are
/// added by notes().
Result<Resolution> compose(const Inputs& inputs, const Candidate& chosen);

/// What a person should know of the choice although nothing forbids it.
std::vector<Note> notes(const Inputs& inputs, const Candidate& chosen, const MachineFacts& machine);

} // namespace cukit::resolve
