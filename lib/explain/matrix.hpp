// GPUs x releases of CUDA x a driver, from the knowledge alone.
#pragma once

#include "knowledge/knowledge.hpp"

namespace cukit::explain {

struct ServiceMatrix {
  struct Cell {
    bool compiles = false; ///< nvcc of the release takes the plain target
    bool has_a = false;    ///< and its architecture-specific form
    bool has_f = false;    ///< and its family form
  };
  struct Row {
    GpuTarget target;
    std::string architecture;
    std::vector<std::string> products; ///< as the recipes list them
    std::vector<Cell> cells;           ///< by release
  };
  struct Release {
    Version minor;
    Version ptx;
    int driver_floor = 0;
    int driver_branch = 0;
    bool starts = true;    ///< on the driver that was named: its programs start
    bool takes_ptx = true; ///< and the driver compiles its PTX
  };
  std::vector<Release> releases; ///< ascending
  std::vector<Row> rows;         ///< by target
};

/// `gpus`: only these rows (plain forms), empty for all. `driver`: what `starts` and `takes_ptx`
/// are about; both are true without one. `major`: only releases of that CUDA major, 0 for all.
Result<ServiceMatrix> service_matrix(const knowledge::Knowledge& knowledge,
                                     const std::vector<GpuTarget>& gpus,
                                     const std::optional<Version>& driver, int major);

} // namespace cukit::explain
