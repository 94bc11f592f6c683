// Any bytes as a build's log: read in linear time, never a crash.
#include "doctor/doctor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto knowledge = cukit::knowledge::Knowledge::embedded();
  cukit::doctor::Question question;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto facts = cukit::doctor::read_log(text, knowledge)) {
    question.log = *std::move(facts);
  }
  static_cast<void>(cukit::doctor::diagnose(cukit::survey::Snapshot{}, question, knowledge));
  return 0;
}
