// Why a lock holds what it holds: the chain from the manifest to one component or GPU, from the
// lock and the knowledge alone; a manifest adds the lines where the wishes stand.
#pragma once

#include "lock/lock.hpp"
#include "manifest/manifest.hpp"

namespace cukit::explain {

struct Because {
  std::string label; ///< "here because", "this version because", "from" ...
  std::string text;
  std::string source; ///< of the fact: a public document, FILE:LINE of the manifest, or empty
};

struct Explanation {
  std::string subject; ///< "nvcc 13.0.88"
  bool holds = true;   ///< false: the lock does not have it, or does not serve that GPU
  std::vector<Because> lines = {};
};

struct Question {
  const lock::Lock& lock;
  const knowledge::Knowledge& knowledge;
  const manifest::Manifest* manifest = nullptr; ///< of the lock, or null
};

/// A component, the name of a part (ptxas), of a program or file that a component provides (cicc,
/// curand.h), or `cuda` for the release itself. One explanation per artifact that is meant. A word
/// that the recipes do not know is an error with the nearest one.
Result<std::vector<Explanation>> why_component(const Question& question, const std::string& word);

/// One artifact of the lock on one platform.
Result<Explanation> why_artifact(const Question& question, const lock::Artifact& artifact);

/// Whether the lock serves a GPU, by which target, and what the compiler, the driver and the
/// consumers say of it.
Result<Explanation> why_gpu(const Question& question, const GpuTarget& gpu);

} // namespace cukit::explain
