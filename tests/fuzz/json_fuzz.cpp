// Whatever is read must come back the same after it was written; nothing may crash, hang or throw.
#include "base/result.hpp"
#include "text/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = cukit::text::Json::parse(text, "fuzz");
  if (json) {
    const auto written = json->dump(false);
    const auto again = cukit::text::Json::parse(written, "fuzz");
    CUKIT_ENSURE(again.has_value(), "what was written must be readable");
    CUKIT_ENSURE(again->dump(false) == written, "writing must be stable");
  }
  return 0;
}
