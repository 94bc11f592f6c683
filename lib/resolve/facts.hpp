// The parts of the knowledge that resolution looks at, loaded once. Points into the Knowledge,
// which must outlive it.
#pragma once

#include "knowledge/knowledge.hpp"
#include "resolve/pinned.hpp"

#include <map>
#include <memory>

namespace cukit::resolve {

/// Components that the rules name.
constexpr std::string_view k_nvcc = "nvcc";
constexpr std::string_view k_cudart = "cudart";
constexpr std::string_view k_cccl = "cccl";
constexpr std::string_view k_nvjitlink = "nvjitlink";
constexpr std::string_view k_toolkit_project = "cuda-toolkit";
constexpr std::string_view k_ptxas_part = "ptxas";

struct Facts {
  const knowledge::Knowledge* knowledge = nullptr; ///< for what is looked up rarely
  const std::vector<knowledge::Release>* releases = nullptr;
  const std::vector<knowledge::Architecture>* architectures = nullptr;
  const std::vector<knowledge::Component>* components = nullptr;
  const std::map<std::string, std::vector<std::string>>* groups = nullptr;
  const std::vector<knowledge::PyTorch>* pytorch = nullptr;
  const std::map<std::string, Sha256>* pins = nullptr;
  std::shared_ptr<const PinnedFiles> pinned;
  const std::vector<knowledge::LeastGlibc>* least_glibc = nullptr;
  const knowledge::Limits* limits = nullptr;
  const std::vector<knowledge::ReleaseTable>* tables = nullptr; ///< of load_with_tables() alone

  static Result<Facts> load(const knowledge::Knowledge& knowledge);
  /// Also what each release holds per source, which only a search has a use for.
  static Result<Facts> load_with_tables(const knowledge::Knowledge& knowledge);
  /// The component that recipes must have under that name.
  Result<const knowledge::Component*> component(std::string_view name) const;
  /// Read when the first is asked for: most manifests name none.
  [[nodiscard]] const knowledge::Consumer* consumer(std::string_view name) const;
};

} // namespace cukit::resolve
