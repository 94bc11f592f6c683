// What is read as a version or a range must come back the same after it was written, and a version
// is always inside the range that names it.
#include "model/version.hpp"

#include <cstddef>
#include <cstdint>

using cukit::Version;
using cukit::VersionRange;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto version = Version::parse(text)) {
    const auto again = Version::parse(version->text());
    CUKIT_ENSURE(again.has_value(), "a written version must be readable");
    CUKIT_ENSURE(*again == *version, "writing must not change a version");
    CUKIT_ENSURE(again->text() == version->text(), "writing must be stable");
    const auto exact = VersionRange::parse("==" + version->text());
    CUKIT_ENSURE(exact && exact->contains(*version, true), "a version must equal itself");
  }
  if (const auto range = VersionRange::parse(text)) {
    const auto again = VersionRange::parse(range->text());
    CUKIT_ENSURE(again.has_value(), "a written range must be readable");
    CUKIT_ENSURE(again->text() == range->text(), "writing must be stable");
    static_cast<void>(range->contains(Version()));
  }
  if (const auto wish = VersionRange::parse_wish(text)) {
    CUKIT_ENSURE(VersionRange::parse(wish->text()).has_value(), "a wish must be a range");
  }
  return 0;
}
