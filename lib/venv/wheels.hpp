// Which wheels of CUDA belong together in a Python environment: a compiler, the headers and CCCL of
// one release, beside what others have pinned. Pure, from what is known of each release.
#pragma once

#include "knowledge/knowledge.hpp"
#include "venv/inventory.hpp"

namespace cukit::venv {

struct Wheel {
  std::string component; ///< nvcc
  std::string project;   ///< nvidia-cuda-nvcc
  Version version;
  std::string installed;               ///< its version now, or empty
  std::string why;                     ///< "torch pins it", "the compiler's own", ...
  [[nodiscard]] bool is_there() const; ///< installed at that version
};

struct WheelSet {
  Version release; ///< of CUDA: 13.0.2
  std::string because;
  std::vector<Wheel> wheels;   ///< the compiler's parts first, then by name
  std::size_t as_released = 0; ///< of them, those installed at the very version of the release
};

/// Of the releases whose wheels everybody's pins take, the one of which most is installed; the
/// newest of several. What is installed and fits stays. Expected_no when no release fits, with the
/// pins that exclude each other, and for CUDA 12, whose wheels hold no nvcc.
Result<WheelSet> coherent_set(const Inventory& inventory, const knowledge::Knowledge& knowledge);

} // namespace cukit::venv
