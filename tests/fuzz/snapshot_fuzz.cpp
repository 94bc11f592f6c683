// Any bytes as a snapshot's file: an error, or a diagnosis.
#include "doctor/doctor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto knowledge = cukit::knowledge::Knowledge::embedded();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto json = cukit::text::Json::parse(bytes, "input");
  const auto snapshot = json ? cukit::survey::snapshot_from_json(*json, "input")
                             : tl::unexpected<cukit::Error>(json.error());
  if (snapshot) {
    const auto diagnosis = cukit::doctor::diagnose(*snapshot, {}, knowledge);
    if (diagnosis) {
      static_cast<void>(cukit::doctor::to_json(*diagnosis).dump());
    }
    static_cast<void>(cukit::survey::to_json(*snapshot).dump());
  }
  return 0;
}
