// A requirement line of METADATA and a wheel's file name: read or refused, evaluated, never a crash
// or a path.
#include "catalog/catalog.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto requirement = cukit::catalog::Requirement::parse(text)) {
    CUKIT_ENSURE(cukit::catalog::is_project_name(requirement->project), "a name must be one");
    for (const auto platform : cukit::Platform::all()) {
      static_cast<void>(requirement->applies(platform, "nvcc"));
    }
  }
  if (const auto wheel = cukit::catalog::parse_wheel_name(text)) {
    CUKIT_ENSURE(wheel->file.find('/') == std::string::npos, "a file name is no path");
    CUKIT_ENSURE(wheel->machine == "any" || wheel->machine == "x86_64" ||
                     wheel->machine == "aarch64",
                 "only machines of ours");
  }
  return 0;
}
