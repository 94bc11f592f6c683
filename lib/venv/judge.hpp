// What is wrong with the CUDA of a Python environment: pure, over an Inventory.
#pragma once

#include "knowledge/knowledge.hpp"
#include "venv/inventory.hpp"

namespace cukit::venv {

struct Trouble {
  std::string id;   ///< compiler-and-headers, pin, changed-files ...
  std::string text; ///< a sentence with what proves it
  std::string next; ///< what to do
};

/// The parts of one folder that must fit each other, with where each version was read.
struct Part {
  std::string name;    ///< nvcc, cicc, headers, CCCL ...
  std::string version; ///< empty: not known
  std::string read_in; ///< the file, or the distribution
};
std::vector<Part> parts_of(const Inventory& inventory, const CudaFolder& folder);

/// The gravest first. An environment without a compiler is in order: it only cannot compile.
Result<std::vector<Trouble>> judge(const Inventory& inventory,
                                   const knowledge::Knowledge& knowledge);

} // namespace cukit::venv
