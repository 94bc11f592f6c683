#include "fit/targets.hpp"

namespace cukit::fit {

namespace {

/// Since when there is a form with that letter; nothing: there is none.
std::optional<Version> form_since(const knowledge::Architecture& architecture, char letter) {
  return letter == 'a' ? architecture.a_since : architecture.f_since;
}

} // namespace

Fit still_known(const knowledge::Architecture& architecture, const Version& cuda) {
  return architecture.last_cuda ? held_to(Bound::at_most, *architecture.last_cuda, cuda) : Fit{};
}

Fit compiles_for(const knowledge::Architecture& architecture, const GpuTarget& target,
                 const Version& cuda) {
  if (const auto fit = still_known(architecture, cuda); fit.is_refused()) {
    return fit;
  }
  const auto plain = held_to(Bound::at_least, architecture.first_cuda, cuda);
  if (plain.is_refused() || target.suffix == 0) {
    return plain;
  }
  const auto since = form_since(architecture, target.suffix);
  return since ? held_to(Bound::at_least, *since, cuda) : Fit{.answer = Answer::no};
}

Version first_cuda(const knowledge::Architecture& architecture, const GpuTarget& target) {
  return target.suffix == 0
             ? architecture.first_cuda
             : form_since(architecture, target.suffix).value_or(architecture.first_cuda);
}

GpuTarget as_assembled(const GpuTarget& target) {
  constexpr int k_first_with_letter = 9;
  auto result = target;
  if (target.major >= k_first_with_letter && target.suffix == 0) {
    result.suffix = 'a';
  }
  return result;
}

Fit assembles_for(const std::vector<knowledge::Architecture>& architectures,
                  const GpuTarget& target, const Version& ptxas) {
  const auto* architecture = knowledge::find_architecture(architectures, target);
  if (architecture == nullptr) {
    return {};
  }
  if (const auto fit = still_known(*architecture, ptxas); fit.is_refused()) {
    return fit;
  }
  return held_to(Bound::at_least, first_cuda(*architecture, as_assembled(target)), ptxas);
}

std::optional<Version> least_nvcc(const knowledge::Consumer& consumer, const GpuTarget& target) {
  for (const auto& key :
       {target.plain().dotted(), fmt::format("{}.x", target.major), std::string("any")}) {
    const auto found = consumer.minimum.find(key);
    if (found != consumer.minimum.end()) {
      // The recipe's reader has seen to it that it is a version.
      return Version::parse(found->second).value_or(Version());
    }
  }
  return std::nullopt;
}

Fit accepts_nvcc(const knowledge::Consumer& consumer, const GpuTarget& target,
                 const Version& nvcc) {
  const auto least = least_nvcc(consumer, target);
  return least ? held_to(Bound::at_least, *least, nvcc) : Fit{};
}

Fit accepts_ptxas(const knowledge::Consumer& consumer, const Version& ptxas) {
  if (!consumer.takes_ptxas) {
    return {};
  }
  return {.answer = consumer.takes_ptxas->contains(ptxas, true) ? Answer::yes : Answer::no};
}

} // namespace cukit::fit
