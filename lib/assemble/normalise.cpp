#include "assemble/normalise.hpp"

#include "assemble/driver_headers.hpp"
#include "assemble/entry_text.hpp"

namespace cukit::assemble {

namespace {

Result<void> add_folder_links(Claims& claims, Platform platform) {
  const std::string target = fmt::format("targets/{}/", platform.triple());
  if (claims.is_folder("lib")) {
    CUKIT_TRY(claims.add_link("lib64", "lib"));
    CUKIT_TRY(claims.add_link(target + "lib", "../../lib"));
  }
  if (claims.is_folder("include")) {
    CUKIT_TRY(claims.add_link(target + "include", "../../include"));
  }
  return {};
}

} // namespace

Result<void> add_stub(Claims& claims, Platform platform) {
  constexpr const char* k_stub = "lib/stubs/libcuda.so";
  if (claims.has(k_stub) || !claims.has("include/cuda.h")) {
    return {};
  }
  std::map<std::string, std::string> headers;
  for (const auto& name : driver_headers()) {
    const auto* file = claims.find("include/" + name);
    if (file != nullptr && !file->from.empty()) {
      CUKIT_TRY_ASSIGN(headers[name], read_entry_text(*file));
    }
  }
  return claims.add_content(k_stub, stub_libcuda(driver_symbols(headers), platform));
}

Result<void> normalise(Claims& claims, const lock::Lock& lock, const lock::PlatformLock& platform) {
  CUKIT_TRY(remove_absolute_paths(claims));
  CUKIT_TRY(add_library_links(claims, platform.platform));
  CUKIT_TRY(add_stub(claims, platform.platform));
  CUKIT_TRY(add_version_files(claims, lock, platform));
  CUKIT_TRY(add_pkg_config(claims, lock.release));
  return add_folder_links(claims, platform.platform);
}

} // namespace cukit::assemble
