// All toolkits that the catalog allows, in the order of preference: what the earlier lock holds,
// PyTorch's own minor, the lowest newer one; without PyTorch the newest. Inside a minor the newest
// patch release. The first that satisfies everything is the answer.
#pragma once

#include "resolve/offer.hpp"
#include "resolve/problem.hpp"

namespace cukit::resolve {

struct Candidate {
  const OfferedRelease* release = nullptr;
  const OfferedRelease* ptxas = nullptr; ///< the newer release that gives ptxas and nvlink, or null
  const OfferedRelease* cccl = nullptr;  ///< the newer release that gives CCCL, or null
  Toolkit toolkit;
};

/// `offer` must outlive the candidates.
std::vector<Candidate> candidates(const manifest::Manifest& manifest, const Facts& facts,
                                  const Offer& offer, const std::vector<Platform>& platforms,
                                  const lock::Lock* earlier);

/// Position of the first candidate that every constraint allows.
std::optional<std::size_t> first_allowed(const Problem& problem,
                                         const std::vector<Candidate>& candidates);

/// Releases none of whose candidates before `chosen` was allowed, with what was against the first.
std::vector<PassedOver> passed_over(const Problem& problem,
                                    const std::vector<Candidate>& candidates, std::size_t chosen);

/// Which CUDA minor comes first when the manifest leaves it open: negative when `a` does.
int compare_preference(const Version& a, const Version& b, const std::optional<Version>& torch);

} // namespace cukit::resolve
