// GPUs and CUDA: which nvcc compiles for a target, which ptxas assembles for it, and what a
// consumer asks for on top.
#pragma once

#include "fit/answer.hpp"
#include "knowledge/knowledge.hpp"

namespace cukit::fit {

/// Programs of this CUDA still know an architecture, or do not know it yet.
[[nodiscard]] Fit still_known(const knowledge::Architecture& architecture, const Version& cuda);
/// nvcc of this CUDA compiles for a target, its letter included. No and Bound::none: the
/// architecture has no form with that letter.
[[nodiscard]] Fit compiles_for(const knowledge::Architecture& architecture, const GpuTarget& target,
                               const Version& cuda);
/// The first CUDA for a target. A letter that the architecture does not have counts for nothing.
[[nodiscard]] Version first_cuda(const knowledge::Architecture& architecture,
                                 const GpuTarget& target);
/// The target as a program that assembles for it is asked: with the letter `a` from 9.0 on, where
/// nothing else is said.
[[nodiscard]] GpuTarget as_assembled(const GpuTarget& target);
/// A ptxas assembles for what is asked of it; a target that is not known is taken to be served.
[[nodiscard]] Fit assembles_for(const std::vector<knowledge::Architecture>& architectures,
                                const GpuTarget& target, const Version& ptxas);

/// The least nvcc that a consumer takes for a target, or nothing; the closest entry counts (12.0
/// before 12.x before any).
[[nodiscard]] std::optional<Version> least_nvcc(const knowledge::Consumer& consumer,
                                                const GpuTarget& target);
/// A consumer accepts this nvcc for a target; unknown where its recipe says nothing.
[[nodiscard]] Fit accepts_nvcc(const knowledge::Consumer& consumer, const GpuTarget& target,
                               const Version& nvcc);
/// A consumer can work with this ptxas. The bound is none: its recipe has a range.
[[nodiscard]] Fit accepts_ptxas(const knowledge::Consumer& consumer, const Version& ptxas);

} // namespace cukit::fit
