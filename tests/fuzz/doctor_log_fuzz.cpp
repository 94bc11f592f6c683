// Any bytes as a build's log: read in linear time, never a crash.
#include "doctor/doctor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto knowledge = cukit::knowledge::Knowledge::embedded();
  cukit::doctor::Question question;
  question.log.assign(reinterpret_cast<const char*>(data), size);
  static_cast<void>(cukit::doctor::diagnose(cukit::host::Snapshot{}, question, knowledge));
  return 0;
}
