// The smallest change that gives a Python environment one compiler with the headers and the CCCL
// that belong to it. Pure: a lock says which wheels there are, the environment what stays.
#pragma once

#include "lock/lock.hpp"
#include "venv/wheels.hpp"

namespace cukit::venv {

struct Change {
  std::string project; ///< nvidia-nvvm
  std::string from;    ///< its version now, or empty
  Version to;
  std::string why;         ///< a sentence's end
  lock::Artifact artifact; ///< the wheel
};

struct Kept {
  std::string project;
  std::string version;
  std::string why;
};

struct Plan {
  Version release;
  fs::path site; ///< the folder of modules that changes
  std::vector<Change> changes;
  std::vector<Kept> kept;
  std::uint64_t bytes = 0; ///< of the wheels, as files
  std::string root;        ///< the toolkit's folder below `site`: nvidia/cu13
  /// What wheels lack comes along or anew (layout.hpp).
  bool makes_layout = false;
  [[nodiscard]] bool is_empty() const { return changes.empty() && !makes_layout; }
};

/// Which wheels of the lock have to come, by what is installed, damaged and pinned. Expected_no
/// where a pin of somebody forbids one that must come, and where the lock has no wheels of a whole
/// compiler: then only a toolkit beside the environment can serve.
Result<Plan> plan(const Inventory& inventory, const knowledge::Knowledge& knowledge,
                  const lock::Lock& lock, const lock::PlatformLock& wheels);

} // namespace cukit::venv
