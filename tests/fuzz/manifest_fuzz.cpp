// A manifest is read or refused with a place and a code; reading twice gives the same digest.
#include "manifest/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto knowledge = cukit::knowledge::Knowledge::embedded();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = cukit::manifest::parse(text, "fuzz.yaml", knowledge);
  if (manifest) {
    const auto again = cukit::manifest::parse(text, "fuzz.yaml", knowledge);
    CUKIT_ENSURE(again.has_value() && again->digest == manifest->digest, "reading must be stable");
  } else {
    CUKIT_ENSURE(manifest.error().code == cukit::ErrorCode::usage,
                 "a manifest's mistake is the user's");
    CUKIT_ENSURE(manifest.error().where.starts_with("fuzz.yaml"), "a mistake has a place");
  }
  return 0;
}
