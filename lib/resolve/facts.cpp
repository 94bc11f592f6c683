#include "resolve/facts.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

namespace cukit::resolve {

namespace {

/// The components are half of what there is to read. Where no thread can be had they are read in
/// turn.
std::jthread read_ahead(const knowledge::Knowledge& knowledge) {
  try {
    return std::jthread([&knowledge] { static_cast<void>(knowledge.components()); });
  } catch (const std::system_error&) {
    return {};
  }
}

} // namespace

Result<Facts> Facts::load(const knowledge::Knowledge& knowledge) {
  const auto ahead = read_ahead(knowledge);
  Facts facts;
  facts.knowledge = &knowledge;
  CUKIT_TRY_ASSIGN(facts.releases, knowledge.releases());
  CUKIT_TRY_ASSIGN(facts.architectures, knowledge.architectures());
  CUKIT_TRY_ASSIGN(facts.groups, knowledge.groups());
  CUKIT_TRY_ASSIGN(facts.pytorch, knowledge.pytorch());
  CUKIT_TRY_ASSIGN(facts.pins, knowledge.pins());
  facts.pinned = std::make_shared<const PinnedFiles>(*facts.pins);
  CUKIT_TRY_ASSIGN(facts.least_glibc, knowledge.least_glibc());
  CUKIT_TRY_ASSIGN(facts.limits, knowledge.limits());
  CUKIT_TRY_ASSIGN(facts.components, knowledge.components());
  for (const auto name : {k_nvcc, k_cudart, k_cccl}) {
    CUKIT_TRY(facts.component(name));
  }
  return facts;
}

Result<Facts> Facts::load_with_tables(const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(auto facts, load(knowledge));
  CUKIT_TRY_ASSIGN(facts.tables, knowledge.tables());
  return facts;
}

Result<const knowledge::Component*> Facts::component(std::string_view name) const {
  const auto* found = knowledge::find_component(*components, name);
  if (found == nullptr) {
    return fail(ErrorCode::usage, "the recipes know no component `{}`", name);
  }
  return found;
}

const knowledge::Consumer* Facts::consumer(std::string_view name) const {
  const auto consumers = knowledge->consumers();
  if (!consumers) { // the manifest was read by them: what is wrong there was said
    return nullptr;
  }
  const auto found = std::find_if((*consumers)->begin(), (*consumers)->end(),
                                  [&](const auto& consumer) { return consumer.name == name; });
  return found == (*consumers)->end() ? nullptr : &*found;
}

} // namespace cukit::resolve
