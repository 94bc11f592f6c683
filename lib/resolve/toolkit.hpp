// A toolkit as the rules see it: the versions that would stand together, whether they come from a
// catalog or from a lock.
#pragma once

#include "resolve/facts.hpp"
#include "resolve/rules.hpp"

#include <functional>

namespace cukit::resolve {

struct Toolkit {
  std::string source;                        ///< of a release that is only known of; else empty
  Version release;                           ///< 13.0.3
  const knowledge::Release* facts = nullptr; ///< of its minor
  Version nvcc;
  Version ptxas;                        ///< nvcc's own or newer; nvlink comes from the same package
  std::optional<Version> ptxas_release; ///< the release it comes from, where that is known
  Version cudart;
  Version cccl; ///< CCCL's own numbering
  Version cccl_package;
  [[nodiscard]] bool has_own_ptxas() const { return ptxas == nvcc; }

  /// The component on one platform: a wheel or its absence with the reason.
  struct Place {
    std::optional<Version> version;
    bool is_not_made = false; ///< the platform never had it
    std::string why_not;
  };
  std::function<Place(const knowledge::Component&, Platform)> place;
};

} // namespace cukit::resolve
