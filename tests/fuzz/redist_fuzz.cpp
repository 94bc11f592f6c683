// A redistrib manifest that is read holds nothing that could leave its folder, an archive without
// bytes, or a component under another's name; nothing may crash, hang or throw.
#include "base/result.hpp"
#include "catalog/redist.hpp"

using namespace cukit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const auto label = Version::parse("13.0.2").value();
  const auto manifest = catalog::parse_redist(text, "cuda", label, "fuzz");
  if (!manifest) {
    CUKIT_ENSURE(!manifest.error().message.empty(), "a refusal says why");
    return 0;
  }
  CUKIT_ENSURE(manifest->sha256 == sha256_of(text), "the digest is that of the bytes");
  for (const auto& [key, component] : manifest->components) {
    CUKIT_ENSURE(component.name == key, "a component is known by its key");
    for (const auto& archive : component.archives) {
      const auto path = "/" + archive.path.text() + "/";
      CUKIT_ENSURE(archive.size > 0 && !archive.path.empty(), "an archive has bytes and a place");
      CUKIT_ENSURE(path.find("/../") == std::string::npos && path.find("//") == std::string::npos &&
                       path.find(':') == std::string::npos,
                   "a path stays below its base");
      const auto place = catalog::redist_place(catalog::redist_path("cuda", archive.path));
      CUKIT_ENSURE(place && place->below == archive.path.text(), "a path is found again");
    }
    for (const auto* cuda : {"12.9", "13.1"}) {
      static_cast<void>(component.find(Platform::host(), Version::parse(cuda).value()));
    }
  }
  return 0;
}
